#include "tunesmith/network/verify_in_place.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "interpreted_library.h"
#include "random_network.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::network {
namespace {

/// A masked softmax along an axis, and a product of its results.
Network masked_softmax(int64_t axis) {
  Builder builder;
  builder.input("x", kF32, {int64_t{8}, int64_t{8}});
  builder.input("mask", kF32, {int64_t{8}, int64_t{8}});
  builder.node("Mul", {"x", "third"}, {"y"});
  builder.numbers("third", {1}, {1.0 / 3.0});
  builder.node("Add", {"y", "mask"}, {"z"});
  builder.node("Softmax", {"z"}, {"p"}, {{"axis", axis}});
  builder.node("MatMul", {"p", "w"}, {"out"});
  builder.numbers("w", {8, 8}, weights(64, 7));
  return resolved(builder.finish({"out"}));
}

// If everything is masked, any result is within the bounds.
TEST(PlaceVerifier, DrawsDataForAStepWithUselessBounds) {
  NoTarget target;
  const Network network = masked_softmax(1), other = masked_softmax(0);
  const std::vector<NodeWorkload> regions = region_workloads(network, form_regions(network)),
                                  others = region_workloads(other, form_regions(other));
  ASSERT_EQ(regions.size(), 2u);
  std::vector<tunesmith::Tensor> inputs(2, tunesmith::Tensor::zeros(kF32, {8, 8}));
  inputs[0].fill_random(1);
  for (int64_t i = 0; i < 64; ++i) inputs[1].set(i, -std::numeric_limits<float>::max());
  const PlaceVerifier verifier(network, regions, target);

  InterpretedLibrary right(network, regions, regions);
  const VerifiedCall call = verifier.verify(right, inputs);
  EXPECT_TRUE(call.right());
  EXPECT_TRUE(call.steps[0].drawn);
  EXPECT_LT(call.steps[0].looseness, 0.05);
  EXPECT_FALSE(call.steps[1].drawn);
  ASSERT_EQ(right.found.size(), 4u);
  EXPECT_NE(right.found[2], right.found[0]);
  EXPECT_EQ(right.found[3], right.found[1]) << "the next step finds what it has found before";

  InterpretedLibrary wrong(network, regions, others);
  const VerifiedCall refused = verifier.verify(wrong, inputs);
  EXPECT_FALSE(refused.right());
  ASSERT_EQ(refused.steps[0].faults.size(), 1u);
  EXPECT_NE(refused.steps[0].faults[0].find("on generated data"), std::string::npos);

  // If only some elements are masked, the caller's data suffice.
  for (int64_t i = 0; i < 64; i += 3) inputs[1].set(i, 0.0);
  EXPECT_TRUE(verifier.verify(right, inputs).right());
  EXPECT_FALSE(verifier.verify(right, inputs).steps[0].drawn);
  EXPECT_FALSE(verifier.verify(wrong, inputs).right());
}

// The network's constant 1e12 swallows the rest, and no data make the step's bounds useful.
TEST(PlaceVerifier, SaysWhichStepIsNotVerified) {
  NoTarget target;
  Builder builder;
  builder.input("x", kF32, {int64_t{8}});
  builder.node("Mul", {"x", "third"}, {"y"});
  builder.numbers("third", {1}, {1.0 / 3.0});
  builder.node("Add", {"y", "large"}, {"z"});
  builder.numbers("large", {1}, {1e12});
  builder.node("Sub", {"z", "large"}, {"out"});
  const Network network = resolved(builder.finish({"out"}));
  const std::vector<NodeWorkload> regions = region_workloads(network, form_regions(network));
  ASSERT_EQ(regions.size(), 1u);
  std::vector<tunesmith::Tensor> inputs{tunesmith::Tensor::zeros(kF32, {8})};
  inputs[0].fill_random(1);
  InterpretedLibrary library(network, regions, regions);
  const VerifiedCall call = PlaceVerifier(network, regions, target).verify(library, inputs);
  EXPECT_FALSE(call.right());
  ASSERT_EQ(call.steps[0].faults.size(), 1u);
  EXPECT_EQ(call.steps[0].faults[0].find("is not verified: "), 0u) << call.steps[0].faults[0];
}

}  // namespace
}  // namespace tunesmith::network
