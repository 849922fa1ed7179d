// Statements of nodes as one workload.
#include <numeric>

#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"

namespace tunesmith::network {
namespace {

/// Joins all nodes. Inputs: x and s of shape 3, 4, y of shape 4; w and b are constant.
uint64_t hash_of(const std::vector<std::vector<std::string>>& nodes) {
  Builder builder;
  builder.input("x", kF32, {int64_t{3}, int64_t{4}});
  builder.input("s", kF32, {int64_t{3}, int64_t{4}});
  builder.input("y", kF32, {int64_t{4}});
  builder.numbers("w", {4, 4}, weights(16, 7));
  builder.numbers("b", {4}, weights(4, 3));
  for (const std::vector<std::string>& node : nodes)
    builder.node(node[0], {node.begin() + 2, node.end()}, {node[1]});
  const Network network = resolved(builder.finish({nodes.back()[1]}));
  EXPECT_EQ(network.nodes.size(), nodes.size());
  std::vector<size_t> all(network.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  return workload_of(network, all).workload.hash;
}

TEST(Joined, OperandsOfSumsAndProductsHaveOneOrder) {
  const std::vector<std::string> product = {"MatMul", "p", "x", "w"};
  for (const std::string op : {"Add", "Mul"}) {
    EXPECT_EQ(hash_of({product, {op, "r", "p", "b"}}), hash_of({product, {op, "r", "b", "p"}}));
    EXPECT_EQ(hash_of({product, {op, "r", "p", "s"}}), hash_of({product, {op, "r", "s", "p"}}));
    EXPECT_EQ(hash_of({product, {op, "r", "p", "x"}}), hash_of({product, {op, "r", "x", "p"}}));
    EXPECT_EQ(hash_of({{op, "r", "x", "y"}}), hash_of({{op, "r", "y", "x"}}));
    EXPECT_EQ(hash_of({{op, "r", "x", "s"}}), hash_of({{op, "r", "s", "x"}}));
    EXPECT_EQ(hash_of({{"Tanh", "t", "x"}, {op, "a", "x", "s"}, {op, "r", "a", "t"}}),
              hash_of({{"Tanh", "t", "x"}, {op, "a", "s", "x"}, {op, "r", "t", "a"}}));
  }
}

TEST(Joined, OperandsKeepTheOrderThatHasAMeaning) {
  const std::vector<std::string> product = {"MatMul", "p", "x", "w"};
  for (const std::string op : {"Sub", "Div", "Max"})
    EXPECT_NE(hash_of({product, {op, "r", "p", "b"}}), hash_of({product, {op, "r", "b", "p"}})) << op;
  // (x + s) + y rounds otherwise than x + (s + y).
  EXPECT_NE(hash_of({{"Add", "a", "x", "s"}, {"Add", "r", "a", "y"}}),
            hash_of({{"Add", "a", "s", "y"}, {"Add", "r", "x", "a"}}));
}

/// The text of each region's workload defines the same workload.
void expect_texts_to_mean_the_same(const Network& network) {
  for (const NodeWorkload& region : region_workloads(network, form_regions(network)))
    EXPECT_EQ(WorkloadDefinition::parse(region.workload.definition, "text").instantiate().hash,
              region.workload.hash)
        << region.workload.definition;
}

TEST(Joined, TextsMeanTheSame) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    expect_texts_to_mean_the_same(random_network(random, 12, 5));
    expect_texts_to_mean_the_same(resolved(random_image_graph(random, 10)));
  }
}

}  // namespace
}  // namespace tunesmith::network
