// Networks for ranges of extents, compared with the network at each value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <operators_onnx/find_operator.h>

#include "onnx_network.h"
#include "tunesmith/network/pass.h"
#include "tunesmith/network/tasks.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

using testing::HasSubstr;

TEST(FormFinder, FindsSumsOfWhatVaries) {
  // Both dimensions at their maximum, each less by one, and a fourth sample to confirm the form.
  const FormFinder finder({{16, 512}, {15, 512}, {16, 511}, {1, 7}});
  const auto form = finder.find(std::vector<int64_t>{16 + 3, 15 + 3, 16 + 3, 1 + 3});
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(*form, (ExtentForm{3, {1, 0}}));
  EXPECT_EQ(form->text(std::vector<std::string>{"n", "m"}), "(n + 3)");
  EXPECT_EQ(form->at(std::vector<int64_t>{5, 100}), 8);
  const auto both = finder.find(std::vector<int64_t>{32 + 511, 30 + 511, 32 + 510, 2 + 6});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->text(std::vector<std::string>{"n", "m"}), "(2 * n + m - 1)");
  const auto fixed = finder.find(std::vector<int64_t>{4, 4, 4, 4});
  ASSERT_TRUE(fixed.has_value());
  EXPECT_FALSE(fixed->varies());
  // A rounded quotient, and a form that the fourth sample refutes.
  EXPECT_FALSE(finder.find(std::vector<int64_t>{8, 8, 8, 1}).has_value());
  EXPECT_FALSE(finder.find(std::vector<int64_t>{16, 15, 16, 2}).has_value());
}

Network made_of(Network network, const std::map<std::string, int64_t>& dimensions,
                const std::set<std::string>& kept = {}) {
  run_passes(network, {operators_onnx::find_operator, dimensions, kept});
  return network;
}

MakeNetwork making(const Network& network) {
  return [&](const auto& dimensions, const auto& kept) { return made_of(network, dimensions, kept); };
}

/// Of rows, and a sum over all of them.
Network product() {
  Builder builder;
  builder.input("X", kF32, {"batch", int64_t{4}});
  builder.numbers("W", {4, 6}, std::vector<double>(24, 0.5));
  builder.node("MatMul", {"X", "W"}, {"P"});
  builder.node("Softmax", {"P"}, {"Y"});
  builder.node("ReduceSum", {"Y"}, {"S"}, {{"keepdims", int64_t{0}}});
  return builder.finish({"Y", "S"});
}

TEST(VaryingNetwork, IsThatOfEachValue) {
  const Network given = product();
  const TaskedNetwork tasked = task_network(making(given), {{"batch", {1, 16, {2, 8}}}});
  ASSERT_EQ(tasked.varying.size(), 1U);
  EXPECT_EQ(tasked.varying.front().name, "batch");
  for (int64_t batch = 1; batch <= 16; ++batch) {
    const TaskedNetwork at = at_values(tasked, std::vector{batch});
    const TaskedNetwork wanted = task_network(made_of(given, {{"batch", batch}}));
    ASSERT_EQ(at.regions.size(), wanted.regions.size());
    for (size_t i = 0; i < at.regions.size(); ++i)
      EXPECT_EQ(at.regions[i].workload.hash, wanted.regions[i].workload.hash) << batch;
    EXPECT_EQ(to_text(at.network), to_text(wanted.network));
  }
  const std::vector<std::vector<int64_t>> verified = values_to_verify(tasked.varying);
  EXPECT_THAT(verified, testing::IsSupersetOf(std::vector<std::vector<int64_t>>{{8}, {2}, {1}, {16}, {13}}));
}

TEST(VaryingNetwork, OfOneValueIsTheNetworkOfIt) {
  const Network given = product();
  const TaskedNetwork tasked = task_network(making(given), {{"batch", {3, 3, {}}}});
  EXPECT_TRUE(tasked.varying.empty());
  EXPECT_EQ(network_hash(tasked), network_hash(task_network(made_of(given, {{"batch", 3}}))));
}

/// What is turned has the batch within; of one element it is its input.
TEST(VaryingNetwork, VariesInInnerExtentsAndKeepsNodesThatDoNothingForOneElement) {
  Builder builder;
  builder.input("X", kF32, {"batch", int64_t{1}});
  builder.input("I", kI64, {int64_t{3}});
  builder.node("Flatten", {"X"}, {"F"}, {{"axis", int64_t{0}}});
  builder.node("Gather", {"F", "I"}, {"Y"}, {{"axis", int64_t{1}}});
  const Network given = builder.finish({"Y", "F"});
  const TaskedNetwork tasked = task_network(making(given), {{"batch", {1, 16, {}}}});
  for (const int64_t batch : {2, 7, 16}) {
    const TaskedNetwork wanted = task_network(made_of(given, {{"batch", batch}}));
    const TaskedNetwork at = at_values(tasked, std::vector<int64_t>{batch});
    ASSERT_EQ(at.regions.size(), wanted.regions.size());
    for (size_t i = 0; i < at.regions.size(); ++i)
      EXPECT_EQ(at.regions[i].workload.hash, wanted.regions[i].workload.hash) << batch;
  }
  EXPECT_EQ(at_values(tasked, std::vector<int64_t>{1}).network.nodes.size(), given.nodes.size());
}

TEST(VaryingNetwork, RefusesByTheNameOfTheNode) {
  Builder builder;
  builder.input("X", kF32, {"batch", "batch", int64_t{4}});
  builder.node("Relu", {"X"}, {"R"});
  builder.node("Flatten", {"R"}, {"Y"}, {{"axis", int64_t{2}}});
  const Network given = builder.finish({"Y"});
  try {
    task_network(making(given), {{"batch", {1, 16, {}}}});
    FAIL() << "an extent of the result is a square";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("tensor 'Y': 'batch' cannot vary: its extent 1 is not a linear function"));
    EXPECT_THAT(error.what(), HasSubstr("--dim batch=16"));
  }
}

TEST(VaryingNetwork, RefusesLoops) {
  Builder builder;
  builder.input("X", kF32, {int64_t{12}, "batch", int64_t{4}});
  builder.numbers("W", {1, 3, 4}, std::vector<double>(12, 0.5));
  builder.numbers("R", {1, 3, 3}, std::vector<double>(9, 0.25));
  builder.node("RNN", {"X", "W", "R"}, {"Y"});
  const Network given = builder.finish({"Y"});
  try {
    task_network(making(given), {{"batch", {1, 4, {}}}});
    FAIL() << "rows of the loop's tensors would lie elsewhere";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'batch' cannot vary: it is a step of a loop"));
  }
}

}  // namespace
}  // namespace tunesmith::network
