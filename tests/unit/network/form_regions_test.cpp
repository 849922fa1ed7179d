#include "tunesmith/network/form_regions.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"

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

// Two correct programs may round values differently, and then choose differently.
TEST(FormRegions, AChoiceIsMadeOfWhatIsRoundedBefore) {
  const auto of = [](const std::string& before, const std::string& choice) {
    std::map<std::string, Attribute> rows;
    rows["axis"] = int64_t{1};
    Builder builder;
    builder.input("x", kF32, {int64_t{4}, int64_t{8}});
    builder.node(before, {"x"}, {"a"}, before == "Softmax" ? rows : std::map<std::string, Attribute>());
    builder.node("Reshape", {"a", "shape"}, {"b"});
    builder.integers("shape", {8, 4});
    builder.integers("k", {2});
    const bool several = choice == "TopK";
    builder.node(choice, several ? std::vector<std::string>{"b", "k"} : std::vector<std::string>{"b"},
                 several ? std::vector<std::string>{"values", "z"} : std::vector<std::string>{"z"}, rows);
    return regions_of(resolved(
        builder.finish(several ? std::vector<std::string>{"values", "z"} : std::vector<std::string>{"z"})));
  };
  EXPECT_THAT(of("Sigmoid", "ArgMax"), ElementsAre("Sigmoid", "Reshape ArgMax"));
  EXPECT_THAT(of("Exp", "ArgMin"), ElementsAre("Exp", "Reshape ArgMin"));
  EXPECT_THAT(of("Sigmoid", "TopK"), ElementsAre("Sigmoid", "Reshape TopK"));
  EXPECT_THAT(of("Softmax", "ArgMax"), ElementsAre("Softmax", "Reshape ArgMax"));
  EXPECT_THAT(of("Relu", "ArgMax"), ElementsAre("Relu Reshape ArgMax"));
}

TEST(FormRegions, AGatherTakesWhatFollowsAndNothingOfItsData) {
  Builder builder;
  builder.numbers("table", {10, 8}, std::vector<double>(80, 0.5));
  builder.input("tokens", kI64, {int64_t{4}});
  builder.input("places", kF32, {int64_t{4}, int64_t{8}});
  builder.node("Gather", {"table", "tokens"}, {"words"});
  builder.node("Add", {"words", "places"}, {"sum"});
  builder.node("MatMul", {"sum", "table_t"}, {"product"});
  builder.numbers("table_t", {8, 10}, std::vector<double>(80, 0.5));
  builder.node("Relu", {"product"}, {"positive"});
  builder.node("Gather", {"positive", "tokens"}, {"rows"});
  builder.node("Tanh", {"rows"}, {"out"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"out"}))),
              ElementsAre("Gather Add", "MatMul Relu", "Gather Tanh"));
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

TEST(FormRegions, ProductsWithWeightsAroundRowsStayApart) {
  Builder builder;
  builder.input("x", kF32, {int64_t{8}, int64_t{4}});
  builder.numbers("w", {4, 4}, std::vector<double>(16, 0.5));
  builder.node("MatMul", {"x", "w"}, {"a"});
  builder.node("Softmax", {"a"}, {"b"});
  builder.node("MatMul", {"b", "w"}, {"c"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"c"}))), ElementsAre("MatMul", "Softmax", "MatMul"));
}

TEST(FormRegions, AnEpilogueGoesOnPastRearrangingViews) {
  Builder builder;
  builder.input("x", kF32, {int64_t{6}, int64_t{4}});
  builder.input("r", kF32, {int64_t{4}, int64_t{6}});
  builder.input("s", kF32, {int64_t{4}, int64_t{3}});
  builder.numbers("w", {4, 4}, std::vector<double>(16, 0.5));
  builder.integers("starts", {0});
  builder.integers("ends", {3});
  builder.integers("axes", {1});
  builder.node("MatMul", {"x", "w"}, {"a"});
  builder.node("Transpose", {"a"}, {"b"}, {{"perm", std::vector<int64_t>{1, 0}}});
  builder.node("Add", {"b", "r"}, {"c"});
  builder.node("MatMul", {"x", "w"}, {"d"});
  builder.node("Tanh", {"c"}, {"t"});
  builder.node("Slice", {"t", "starts", "ends", "axes"}, {"u"});
  builder.node("Add", {"u", "s"}, {"v"});  // reads half of it, so in another kernel
  EXPECT_THAT(regions_of(resolved(builder.finish({"v"}))),
              ElementsAre("MatMul Transpose Add Tanh", "Slice Add"));
}

TEST(FormRegions, AProductTakesWhatIsComputedOfItsOperandAndIsLittle) {
  const auto regions = [](const std::vector<std::string>& before, int64_t kernel) {
    Builder builder;
    builder.input("x", kF32, {int64_t{1}, int64_t{4}, int64_t{6}, int64_t{6}});
    builder.input("z", kF32, {int64_t{1}, int64_t{4}, int64_t{1}, int64_t{1}});
    builder.numbers("w", {4, 4, kernel, kernel},
                    std::vector<double>(static_cast<size_t>(16 * kernel * kernel), 0.5));
    std::string last = "x";
    for (const std::string& op : before) {
      const std::string result = last + "_";
      builder.node(op, op == "Mul" ? std::vector{last, std::string("z")} : std::vector{last}, {result});
      last = result;
    }
    builder.node("Conv", {last, "w"}, {"y"});
    return regions_of(resolved(builder.finish({"y"})));
  };
  EXPECT_THAT(regions({"Mul"}, 1), ElementsAre("Mul Conv"));
  EXPECT_THAT(regions({"Mul", "Relu"}, 1), ElementsAre("Mul Relu Conv"));
  EXPECT_THAT(regions({"Mul", "Relu", "Tanh"}, 1), ElementsAre("Mul Relu Tanh", "Conv"));
  EXPECT_THAT(regions({"Mul"}, 3), ElementsAre("Mul", "Conv"));
}

TEST(FormRegions, TensorsSideBySideAreJoinedBeforeAProduct) {
  Builder builder;
  builder.input("x", kF32, {int64_t{4}, int64_t{2}});
  builder.input("y", kF32, {int64_t{4}, int64_t{2}});
  builder.numbers("w", {4, 4}, std::vector<double>(16, 0.5));
  builder.node("Concat", {"x", "y"}, {"a"}, {{"axis", int64_t{1}}});
  builder.node("MatMul", {"a", "w"}, {"b"});
  EXPECT_THAT(regions_of(resolved(builder.finish({"b"}))), ElementsAre("Concat", "MatMul"));
}

/// Each region reads only one of a node's two results.
TEST(FormRegions, AResultThatARegionDoesNotReadIsNoneOfItsWorkload) {
  Builder builder;
  builder.input("x", kF32, {int64_t{4}, int64_t{6}});
  builder.integers("sizes", {2, 4});
  builder.numbers("w", {2, 3}, std::vector<double>(6, 0.5));
  builder.numbers("v", {4, 3}, std::vector<double>(12, 0.5));
  builder.node("Split", {"x", "sizes"}, {"a", "b"}, {{"axis", int64_t{1}}});
  builder.node("MatMul", {"a", "w"}, {"c"});
  builder.node("MatMul", {"b", "v"}, {"d"});
  const Network network = resolved(builder.finish({"c", "d"}));
  const std::vector<Region> regions = form_regions(network);
  ASSERT_EQ(regions.size(), 2U);
  for (const Region& region : regions)
    EXPECT_EQ(workload_of(network, region.nodes, region.results).workload.program.blocks().size(), 2U);
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

/// Regions cover every node, and each reads only what earlier ones have computed.
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

/// Makes each region's workload, so that a faulty one fails; returns the regions' numbers of nodes.
std::vector<size_t> nodes_of_regions(const Network& network) {
  std::vector<size_t> nodes;
  const std::vector<Region> regions = form_regions(network);
  region_workloads(network, regions);
  for (const Region& region : regions) nodes.push_back(region.nodes.size());
  return nodes;
}

TEST(FormRegions, ALongChainIsSeveralRegions) {
  constexpr int kNodes = 300;
  for (const bool moves : {false, true}) {
    Builder builder;
    builder.input("t0", kF32, {int64_t{400}, int64_t{2}});
    builder.integers("first", {0});
    builder.integers("last", {-1});
    for (int i = 0; i < kNodes; ++i) {
      const std::string from = "t" + std::to_string(i), to = "t" + std::to_string(i + 1);
      if (moves)
        builder.node("Slice", {from, "first", "last", "first"}, {to});
      else
        builder.node(i % 2 == 0 ? "Neg" : "Relu", {from}, {to});
    }
    const std::string end = "t" + std::to_string(kNodes);
    builder.node("Softmax", {end}, {"y"});
    const std::vector<size_t> nodes = nodes_of_regions(resolved(builder.finish({"y"})));
    EXPECT_EQ(nodes.size(), 3U);
    EXPECT_LE(std::ranges::max(nodes), 128U);
  }
}

}  // namespace
}  // namespace tunesmith::network
