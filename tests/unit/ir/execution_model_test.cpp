#include "tunesmith/ir/execution_model.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

ExecutionModel grid() {
  ExecutionModel model;
  model.levels = {{"block", {"x", "y"}, {100, 10}, 1000, false}, {"thread", {"x"}, {64}, 64, true}};
  model.scopes = {
      {"global", "", 0, 64, 0, 0}, {"shared", "block", 1024, 16, 32, 4}, {"local", "thread", 64, 4, 0, 0}};
  return model;
}

TEST(ExecutionModel, FindsAxesAndScopesByName) {
  const ExecutionModel model = grid();
  ASSERT_TRUE(model.find_axis("block.y").has_value());
  EXPECT_EQ(*model.find_axis("block.y"), (ExecutionModel::Axis{0, 1}));
  EXPECT_EQ(model.axis_name({1, 0}), "thread.x");
  EXPECT_FALSE(model.find_axis("thread.y").has_value());
  EXPECT_FALSE(model.find_axis("thread").has_value());
  EXPECT_EQ(model.axis_names(), (std::vector<std::string>{"block.x", "block.y", "thread.x"}));
  EXPECT_EQ(model.depth_of(*model.find_scope("global")), 0u);
  EXPECT_EQ(model.depth_of(*model.find_scope("shared")), 1u);
  EXPECT_EQ(model.depth_of(*model.find_scope("local")), 2u);
  EXPECT_EQ(model.find_scope("none"), nullptr);
  EXPECT_EQ(model.first_synchronising(), 1u);
  EXPECT_EQ(host_execution().first_synchronising(), host_execution().levels.size());
}

TEST(ExecutionModel, MembersOfGroupsLieAlongTheFirstAxisInside) {
  ExecutionModel model = grid();
  model.levels.insert(model.levels.begin() + 1, {"warp", {"x"}, {8}, 8, true, 4});
  EXPECT_EQ(execution_model_fault(model), "");
  EXPECT_EQ(model.group_axis(1), (ExecutionModel::Axis{2, 0}));
  EXPECT_FALSE(model.group_axis(0).has_value());
  EXPECT_EQ(model.find_level("warp"), &model.levels[1]);
  EXPECT_EQ(model.find_level("squad"), nullptr);
  EXPECT_EQ(model.first_synchronising(), 1u);
  model.levels[1].synchronises = false;
  EXPECT_EQ(execution_model_fault(model), "level 'warp' has groups along an unknown axis");
  model = grid();
  model.levels[1].group = 4;
  EXPECT_EQ(execution_model_fault(model), "level 'thread' has groups along an unknown axis");
}

TEST(ExecutionModel, SaysWhatIsWrongWithADescription) {
  EXPECT_EQ(execution_model_fault(grid()), "");
  EXPECT_EQ(execution_model_fault(host_execution()), "");
  ExecutionModel model = grid();
  model.levels[1].name = "block";
  EXPECT_EQ(execution_model_fault(model), "duplicate or missing level name 'block'");
  model = grid();
  model.levels[0].most.pop_back();
  EXPECT_EQ(execution_model_fault(model), "level 'block' has 2 axes and 1 limits");
  model = grid();
  model.levels[1].max_together = 0;
  EXPECT_EQ(execution_model_fault(model), "level 'thread' has axes and no limit of their product");
  model = grid();
  model.scopes[1].owner = "cluster";
  EXPECT_EQ(execution_model_fault(model), "scope 'shared' belongs to the unknown level 'cluster'");
  model = grid();
  model.scopes[2].name = "shared";
  EXPECT_EQ(execution_model_fault(model), "duplicate or missing scope name 'shared'");
  model = grid();
  model.scopes[1].alignment = 0;
  EXPECT_EQ(execution_model_fault(model), "scope 'shared' has no alignment");
  model = grid();
  model.scopes.erase(model.scopes.begin());
  EXPECT_EQ(execution_model_fault(model), "unknown scope 'global'");
}

}  // namespace
}  // namespace tunesmith
