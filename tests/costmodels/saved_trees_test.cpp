// XGBoost gets saved trees only if they are sound.
#include "xgboost/saved_trees.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

namespace tunesmith {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A tree of three nodes: a split by column 1 and two leaves.
json small_tree() {
  return {{"left_children", {1, -1, -1}},     {"right_children", {2, -1, -1}},
          {"split_indices", {1, 0, 0}},       {"default_left", {0, 0, 0}},
          {"split_type", {0, 0, 0}},          {"split_conditions", {0.5, 1.5, -2.5}},
          {"base_weights", {0.1, 1.5, -2.5}}, {"loss_changes", {3.0, 0.0, 0.0}},
          {"sum_hessian", {3.0, 1.0, 2.0}}};
}

std::string saved(const json& trees) {
  const json model = {{"learner", {{"gradient_booster", {{"model", {{"trees", trees}}}}}}}};
  const std::vector<uint8_t> bytes = json::to_ubjson(model);
  return {bytes.begin(), bytes.end()};
}

std::string refusal_of(const std::string& bytes) {
  try {
    xgboost::checked_trees(bytes, 3);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "taken";
}

std::string refusal_with(const char* name, const json& value) {
  json tree = small_tree();
  tree[name] = value;
  return refusal_of(saved(json::array({tree})));
}

TEST(SavedTrees, ASmallTreeIsWrittenAnew) {
  const json anew = json::parse(xgboost::checked_trees(saved(json::array({small_tree()})), 3));
  const json& tree = anew["learner"]["gradient_booster"]["model"]["trees"][0];
  for (const char* name :
       {"left_children", "right_children", "split_indices", "split_conditions", "sum_hessian"})
    EXPECT_EQ(tree[name], small_tree()[name]) << name;
}

TEST(SavedTrees, WhatWouldLeadOutOfATreeIsRefused) {
  EXPECT_THAT(refusal_with("left_children", {7, -1, -1}), HasSubstr("a tree of 3 nodes has node 7"));
  EXPECT_THAT(refusal_with("left_children", {-2, -1, -1}), HasSubstr("has node -2"));
  EXPECT_THAT(refusal_with("right_children", {-1, -1, -1}), HasSubstr("has node -1"));
  EXPECT_THAT(refusal_with("right_children", {1, -1, -1}), HasSubstr("below two others"));
  EXPECT_THAT(refusal_with("left_children", {0, -1, -1}), HasSubstr("below two others"));
  EXPECT_THAT(refusal_with("split_indices", {3, 0, 0}), HasSubstr("column 3 of 3"));
  EXPECT_THAT(refusal_with("split_indices", {-1, 0, 0}), HasSubstr("column -1"));
  EXPECT_THAT(refusal_with("split_indices", {0, 0}), HasSubstr("a tree of 3 nodes has 2 'split_indices'"));
  EXPECT_THAT(refusal_with("split_conditions", {0.5, "x", 1.0}), HasSubstr("no number"));
  EXPECT_THAT(refusal_with("split_conditions", {0.5, 1e300, 1.0}), HasSubstr("no number"));
  EXPECT_THAT(refusal_with("split_type", {1, 0, 0}), HasSubstr("categories"));
  EXPECT_THAT(refusal_with("left_children", json::array()), HasSubstr("no nodes"));
  EXPECT_THAT(refusal_with("left_children", 1), HasSubstr("'left_children' is no list"));
}

TEST(SavedTrees, DeepTreesAndTextsAreRefused) {
  json tree = small_tree();
  constexpr int kSplits = 100;
  for (auto& [name, values] : tree.items()) values = json::array();
  for (int i = 0; i <= 2 * kSplits; ++i) {
    const bool splits = i % 2 == 0 && i < 2 * kSplits;
    tree["left_children"].push_back(splits ? i + 1 : -1);
    tree["right_children"].push_back(splits ? i + 2 : -1);
    for (const char* name : {"split_indices", "default_left", "split_type", "split_conditions",
                             "base_weights", "loss_changes", "sum_hessian"})
      tree[name].push_back(0);
  }
  EXPECT_THAT(refusal_of(saved(json::array({tree}))), HasSubstr("more than 64 deep"));
  EXPECT_THAT(refusal_of(std::string(1 << 20, '[')), HasSubstr("Universal Binary JSON"));
  // Claims any number of values that take no bytes.
  EXPECT_THAT(refusal_of(std::string("[$Z#L\x7f\xff\xff\xff\xff\xff\xff\xff", 13)),
              HasSubstr("Universal Binary JSON"));
}

TEST(SavedTrees, NodesThatWerePrunedAreLeftOut) {
  json tree = small_tree();
  for (auto& [name, values] : tree.items()) values.insert(values.begin() + 1, -1);
  tree["left_children"] = {2, -1, -1, -1};
  tree["right_children"] = {3, -1, -1, -1};
  tree["split_type"] = {0, 0, 0, 0};
  EXPECT_EQ(xgboost::checked_trees(saved(json::array({tree})), 3),
            xgboost::checked_trees(saved(json::array({small_tree()})), 3));
}

}  // namespace
}  // namespace tunesmith
