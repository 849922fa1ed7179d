#include <gtest/gtest.h>

#include "small_network.h"

namespace tunesmith::network {
namespace {

TEST(NetworkText, HasALineForEachTensorThatIsGivenNodeAndResult) {
  EXPECT_EQ(to_text(small_network()),
            "network small\n"
            "input X: f32[batch, 2]\n"
            "constant W: f32[2] #b9c80b5adeca4507\n"
            "add: Y: f32[...] = Add@14(X, W)\n"
            "clip: \"Z 1\": ?[...] = Clip@13(Y, -, -) {axis = 1, mode = \"a\\x0a\", ranges = [0.0, 6.5]}\n"
            "output \"Z 1\": ?[...]\n");
}

TEST(NetworkText, TellsValuesOfAConstantApart) {
  Network network = small_network();
  static const std::array<float, 2> kOthers{1.0F, 3.0F};
  network.tensors[1].constant =
      std::make_shared<Constant>(Constant{kF32, {2}, std::as_bytes(std::span(kOthers)), nullptr});
  EXPECT_NE(to_text(network), to_text(small_network()));
}

TEST(NetworkText, TellsAnExtentsNameFromANumberAndATensorFromNone) {
  Network network = small_network();
  network.tensors[0].shape = std::vector<Extent>{"a, b"};
  network.tensors[2].name = "-";
  const std::string text = to_text(network);
  EXPECT_NE(text.find("input X: f32[\"a, b\"]"), std::string::npos) << text;
  EXPECT_NE(text.find("(\"-\", -, -)"), std::string::npos) << text;
}

}  // namespace
}  // namespace tunesmith::network
