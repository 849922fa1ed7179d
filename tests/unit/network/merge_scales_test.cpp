// Sums of dequantized numbers that become bytes are scaled once.
#include <gtest/gtest.h>

#include "quantized_network.h"

namespace tunesmith::network {
namespace {

/// x + y as bytes, after `limit`, with these scales and zero points of the result.
Network sum_of_bytes(const std::string& limit, double scale, double zero, DType dtype) {
  Quantizing builder(13);
  builder.input("x", kF32, Extents{int64_t{2}, int64_t{30}});
  builder.input("y", kF32, Extents{int64_t{2}, int64_t{30}});
  builder.node("Add", {builder.to_bytes("x", kU8), builder.to_bytes("y", kI8)}, {"sum"});
  builder.numbers("low", {}, {0});
  builder.numbers("high", {}, {6});
  if (limit == "Relu") builder.node("Relu", {"sum"}, {"limited"});
  if (limit == "Clip") builder.node("Clip", {"sum", "low", "high"}, {"limited"});
  if (limit == "Sigmoid") builder.node("Sigmoid", {"sum"}, {"limited"});
  builder.numbers("s", {}, {scale});
  builder.numbers("z", {}, {zero}, dtype);
  builder.node("QuantizeLinear", {limit.empty() ? "sum" : "limited", "s", "z"}, {"bytes"});
  builder.node("DequantizeLinear", {"bytes", "s", "z"}, {"out"});
  return builder.finish({"out"});
}

TEST(MergeScales, DividesByTheScaleInWhatIsAdded) {
  std::mt19937 random(14);
  for (const std::string limit : {"", "Relu", "Clip"})
    for (const double zero : {0.0, 7.0})
      for (const double scale : {0.011, 6.0 / 255}) {
        const Network before = sum_of_bytes(limit, scale, zero, kU8), network = resolved(before);
        const Node& quantizing = *nodes_of(network, "QuantizeLinear").back();
        const auto& one = network.tensor(quantizing.inputs[1]).constant;
        ASSERT_TRUE(one != nullptr);
        EXPECT_EQ(to_tensor(*one).get(0), 1.0);
        EXPECT_LT(difference(before, random), 1e-6) << limit << zero << scale;
      }
}

TEST(MergeScales, DropsLimitsBeyondWhichBytesSaturate) {
  const auto has = [](const std::string& limit, double scale, double zero, DType dtype = kU8) {
    return nodes_of(resolved(sum_of_bytes(limit, scale, zero, dtype)), limit).size();
  };
  EXPECT_EQ(has("Relu", 0.011, 0), 0u);
  EXPECT_EQ(has("Relu", 0.011, 7), 1u) << "bytes below the zero point are negative numbers";
  EXPECT_EQ(has("Relu", 0.011, -128, kI8), 0u);
  EXPECT_EQ(has("Clip", 6.0 / 255, 0), 0u);
  EXPECT_EQ(has("Clip", 6.0 / 254, 0), 1u) << "255 is more than 6";
  EXPECT_EQ(has("Clip", 6.0 / 255, 1), 1u);
}

/// The scale by which the network's last QuantizeLinear divides.
std::string last_scale(const Network& network) {
  return network.tensor(nodes_of(network, "QuantizeLinear").back()->inputs[1]).name;
}

TEST(MergeScales, LeavesFunctionsThatDoNotCommuteWithAFactor) {
  EXPECT_EQ(last_scale(resolved(sum_of_bytes("Sigmoid", 1.0 / 255, 0, kU8))), "s");
}

TEST(MergeScales, LeavesScalesBySoLittleThatTermsWouldOverflow) {
  EXPECT_NE(last_scale(resolved(sum_of_bytes("", 1e-10, 0, kU8))), "s");
  EXPECT_EQ(last_scale(resolved(sum_of_bytes("", 1e-30, 0, kU8))), "s");
}

}  // namespace
}  // namespace tunesmith::network
