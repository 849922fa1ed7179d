#include "tunesmith/network/form_regions.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_network.h"

namespace tunesmith::network {
namespace {

using ::testing::ElementsAre;

/// The operators of each region.
std::vector<std::string> regions_of(const Network& network) {
  std::vector<std::string> result;
  for (const Region& region : form_regions(network)) {
    std::string text;
    for (const size_t node : region.nodes) text += (text.empty() ? "" : " ") + network.nodes[node].op;
    result.push_back(text);
  }
  return result;
}

TEST(FormRegions, AConvolutionTakesItsEpilogueAndAResidual) {
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, int64_t{4}, int64_t{6}, int64_t{6}});
  builder.numbers("w", {4, 4, 1, 1}, std::vector<double>(16, 0.5));
  builder.node("Conv", {"x", "w"}, {"a"});
  builder.node("Add", {"a", "x"}, {"b"});
  builder.node("Relu", {"b"}, {"c"});
  builder.node("Conv", {"c", "w"}, {"d"});
  builder.node("Sigmoid", {"d"}, {"e"});
  builder.node("Mul", {"d", "e"}, {"f"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"f"}))), ElementsAre("Conv Add Relu", "Conv Sigmoid Mul"));
}

TEST(FormRegions, WhatOthersReadEndsARegion) {
  Builder builder;
  builder.input("x", kF32, {int64_t{8}, int64_t{8}});
  builder.node("MatMul", {"x", "x"}, {"a"});
  builder.node("Relu", {"a"}, {"b"});
  builder.node("Tanh", {"b"}, {"c"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"b", "c"}))), ElementsAre("MatMul Relu", "Tanh"));
}

TEST(FormRegions, AProductTakesNothingThatIsLargerThanItsResult) {
  Builder builder;
  builder.input("x", kF32, {int64_t{4}, int64_t{8}});
  builder.input("y", kF32, {int64_t{8}, int64_t{1}});
  builder.node("MatMul", {"x", "y"}, {"a"});
  builder.node("Add", {"a", "x"}, {"b"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"b"}))), ElementsAre("MatMul", "Add"));
}

TEST(FormRegions, ReductionsOverOneRowAreOneRegionWithWhatComesBefore) {
  Builder builder;
  builder.input("x", kF32, {int64_t{4}, int64_t{8}});
  builder.node("Tanh", {"x"}, {"y"});
  builder.node("ReduceMax", {"y"}, {"m"}, {{"axes", std::vector<int64_t>{1}}});
  builder.node("Sub", {"y", "m"}, {"d"});
  builder.node("Exp", {"d"}, {"e"});
  builder.node("ReduceSum", {"e", "axes"}, {"s"});
  builder.integers("axes", {1});
  builder.node("Div", {"e", "s"}, {"z"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"z"}))),
              ElementsAre("Tanh ReduceMax Sub Exp ReduceSum Div"));
}

TEST(FormRegions, AttentionIsOneRegionWithItsViews) {
  Builder builder;
  for (const char* name : {"q", "k", "v"}) builder.input(name, kF32, {int64_t{2}, int64_t{16}, int64_t{8}});
  builder.numbers("scale", {}, {0.25});
  builder.node("Transpose", {"k"}, {"kt"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  builder.node("MatMul", {"q", "kt"}, {"s"});
  builder.node("Mul", {"s", "scale"}, {"scaled"});
  builder.node("Softmax", {"scaled"}, {"p"});
  builder.node("MatMul", {"p", "v"}, {"o"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"o"}))),
              ElementsAre("Transpose MatMul Mul Softmax MatMul"));
}

TEST(FormRegions, EachReaderHasTheViewAndAResultIsOneItself) {
  Builder builder;
  builder.input("x", kF32, {int64_t{8}, int64_t{4}});
  builder.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<int64_t>{1, 0}}});
  builder.node("MatMul", {"t", "x"}, {"a"});
  builder.node("MatMul", {"x", "t"}, {"b"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"a", "b", "t"}))),
              ElementsAre("Transpose", "Transpose MatMul", "Transpose MatMul"));
}

/// Whatever the network: each node is computed, in an order in which all that a region reads is there.
TEST(FormRegions, RandomNetworksAreCoveredInOrder) {
  std::mt19937 random(11);
  size_t fused = 0;
  for (int draw = 0; draw < 60; ++draw) {
    const Network network = random_network(random, 14, 4);
    std::set<TensorIndex> there(network.inputs.begin(), network.inputs.end());
    std::set<size_t> covered;
    for (const Region& region : form_regions(network)) {
      std::set<TensorIndex> inside;
      fused += region.nodes.size() > 1 ? 1 : 0;
      for (const size_t node : region.nodes) {
        covered.insert(node);
        for (const TensorIndex input : network.nodes[node].inputs) {
          EXPECT_TRUE(there.contains(input) || inside.contains(input) ||
                      network.tensors[static_cast<size_t>(input)].constant != nullptr)
              << "draw " << draw << ", node " << node << "\n"
              << to_text(network);
        }
        inside.insert(network.nodes[node].outputs.begin(), network.nodes[node].outputs.end());
      }
      for (const TensorIndex result : region.results) {
        EXPECT_TRUE(inside.contains(result));
        EXPECT_TRUE(there.insert(result).second)
            << "draw " << draw << ": two regions compute tensor " << result;
      }
    }
    EXPECT_EQ(covered.size(), network.nodes.size()) << "draw " << draw;
  }
  EXPECT_GT(fused, 100U);
}

}  // namespace
}  // namespace tunesmith::network
