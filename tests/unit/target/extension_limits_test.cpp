// Limits of an extension's file.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/target/complaint.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOfTest = "extension: test\ntarget: llvm\n";
constexpr const char* kCopy =
    "    semantics: {inputs: {X: {shape: [2, 4], dtype: f32}}, compute: \"O[i<2, j<4] = X[i, j]\", outputs: "
    "[O]}\n"
    "    implementation: {intrinsic: llvm.some, arguments: [X]}\n";

TEST(ExtensionFile, ACallTakesTime) {
  for (const char* cycles : {"-1", "0"}) {
    EXPECT_THAT(
        complaint(std::string(kOfTest) + "intrinsics:\n  - name: one\n    cycles: " + cycles + "\n" + kCopy),
        HasSubstr(fmt::format("cycles: expected a number above 0, found '{}'", cycles)));
  }
}

// 10^12 variants would fill any memory.
TEST(ExtensionFile, ProductsOfVariantsHaveALimit) {
  const auto with = [](int lists, const std::string& value) {
    std::string text = std::string(kOfTest) + "variants:\n";
    for (int list = 0; list < lists; ++list) {
      text += "  - [";
      for (int i = 0; i < 10; ++i) text += fmt::format("{}{{k{}: {}{}}}", i == 0 ? "" : ", ", list, value, i);
      text += "]\n";
    }
    return text;
  };
  EXPECT_THAT(complaint(with(12, "") + "intrinsics: []\n"), HasSubstr("variants: more than 256 of them"));
  std::string uses;
  for (int i = 0; i < 10'000; ++i) uses += "$k0";
  EXPECT_THAT(complaint(with(1, std::string(100'000, 'x')) + "intrinsics:\n  - name: " + uses + "\n"),
              HasSubstr("larger than 262144 bytes with its variants' values"));
}

}  // namespace
}  // namespace tunesmith
