#include "saved_trees.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tunesmith::xgboost {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepthOfText = 16;
constexpr size_t kMaxDepthOfTree = 64;

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

/// Creates at most as many values as there are bytes: Universal
/// Binary JSON can announce any number of values that take no bytes.
class BoundedReader : public nlohmann::detail::json_sax_dom_parser<json> {
 public:
  BoundedReader(json& value, size_t bytes) : json_sax_dom_parser(value, false), left_(bytes) {}

  bool null() { return take() && json_sax_dom_parser::null(); }
  bool boolean(bool value) { return take() && json_sax_dom_parser::boolean(value); }
  bool number_integer(int64_t value) { return take() && json_sax_dom_parser::number_integer(value); }
  bool number_unsigned(uint64_t value) { return take() && json_sax_dom_parser::number_unsigned(value); }
  bool number_float(double value, const std::string& text) {
    return take() && json_sax_dom_parser::number_float(value, text);
  }
  bool string(std::string& value) { return take() && json_sax_dom_parser::string(value); }
  bool start_object(size_t members) { return begin(members) && json_sax_dom_parser::start_object(members); }
  bool start_array(size_t elements) { return begin(elements) && json_sax_dom_parser::start_array(elements); }
  bool end_object() {
    --depth_;
    return json_sax_dom_parser::end_object();
  }
  bool end_array() {
    --depth_;
    return json_sax_dom_parser::end_array();
  }

 private:
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  bool begin(size_t announced) {
    constexpr auto kUnknown = static_cast<size_t>(-1);
    return (announced == kUnknown || announced <= left_) && take() && ++depth_ <= kMaxDepthOfText;
  }
  size_t left_;
  size_t depth_ = 0;
};

json read_binary(std::string_view saved) {
  json value;
  BoundedReader reader(value, saved.size());
  if (!json::sax_parse(saved, &reader, json::input_format_t::ubjson) || reader.is_errored())
    refuse("its text is no Universal Binary JSON");
  return value;
}

const json& member(const json& value, const char* name) {
  if (!value.is_object()) refuse(fmt::format("'{}' is missing", name));
  const auto found = value.find(name);
  if (found == value.end()) refuse(fmt::format("'{}' is missing", name));
  return *found;
}

const json& list(const json& value, const char* name) {
  const json& found = member(value, name);
  if (!found.is_array()) refuse(fmt::format("'{}' is no list", name));
  return found;
}

std::vector<int64_t> integers(const json& tree, const char* name, size_t nodes) {
  std::vector<int64_t> values;
  for (const json& value : list(tree, name)) {
    if (!value.is_number_integer()) refuse(fmt::format("a value of '{}' is no integer", name));
    values.push_back(value.get<int64_t>());
  }
  if (values.size() != nodes)
    refuse(fmt::format("a tree of {} nodes has {} '{}'", nodes, values.size(), name));
  return values;
}

std::vector<float> numbers(const json& tree, const char* name, size_t nodes) {
  std::vector<float> values;
  for (const json& value : list(tree, name)) {
    if (!value.is_number() || !std::isfinite(value.get<float>()))
      refuse(fmt::format("a value of '{}' is no number", name));
    values.push_back(value.get<float>());
  }
  if (values.size() != nodes)
    refuse(fmt::format("a tree of {} nodes has {} '{}'", nodes, values.size(), name));
  return values;
}

/// One value per node of a tree.
struct Nodes {
  std::vector<int64_t> left, right;  // -1: a leaf
  std::vector<int64_t> column, missing_left;
  std::vector<float> condition, weight, gain, hessian;

  bool is_leaf(size_t node) const { return left[node] == -1 && right[node] == -1; }
};

Nodes nodes_of(const json& tree) {
  const size_t count = list(tree, "left_children").size();
  if (count == 0) refuse("a tree has no nodes");
  for (const int64_t type : integers(tree, "split_type", count))
    if (type != 0) refuse("a tree splits by categories");
  return {integers(tree, "left_children", count),   integers(tree, "right_children", count),
          integers(tree, "split_indices", count),   integers(tree, "default_left", count),
          numbers(tree, "split_conditions", count), numbers(tree, "base_weights", count),
          numbers(tree, "loss_changes", count),     numbers(tree, "sum_hessian", count)};
}

/// All nodes but the root, each with one parent, in increasing order; pruned nodes have none.
std::vector<size_t> reached(const Nodes& nodes, size_t columns) {
  const auto count = static_cast<int64_t>(nodes.left.size());
  std::vector<bool> seen(nodes.left.size());
  std::vector<size_t> level{0};
  seen[0] = true;
  for (size_t depth = 0; !level.empty(); ++depth) {
    if (depth > kMaxDepthOfTree) refuse(fmt::format("a tree is more than {} deep", kMaxDepthOfTree));
    std::vector<size_t> below;
    for (const size_t node : level) {
      if (nodes.is_leaf(node)) continue;
      if (nodes.column[node] < 0 || nodes.column[node] >= static_cast<int64_t>(columns))
        refuse(fmt::format("a tree splits by column {} of {}", nodes.column[node], columns));
      for (const int64_t child : {nodes.left[node], nodes.right[node]}) {
        if (child < 0 || child >= count) refuse(fmt::format("a tree of {} nodes has node {}", count, child));
        if (seen[static_cast<size_t>(child)]) refuse("a node is below two others");
        seen[static_cast<size_t>(child)] = true;
        below.push_back(static_cast<size_t>(child));
      }
    }
    level = std::move(below);
  }
  std::vector<size_t> order;
  for (size_t node = 0; node < seen.size(); ++node)
    if (seen[node]) order.push_back(node);
  return order;
}

/// In XGBoost's format: nine digits represent any float, and more are refused.
std::string text_of(const std::vector<float>& values, const std::vector<size_t>& order) {
  std::vector<float> chosen;
  for (const size_t node : order) chosen.push_back(values[node]);
  return fmt::format("[{:.8e}]", fmt::join(chosen, ","));
}

std::string text_of(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string text_of_tree(const json& tree, size_t id, size_t columns) {
  const Nodes nodes = nodes_of(tree);
  const std::vector<size_t> order = reached(nodes, columns);
  std::vector<int64_t> number(nodes.left.size(), -1);  // of a node among the reachable ones
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<int64_t>(i);
  const auto renumbered = [&](const std::vector<int64_t>& children) {
    std::vector<int64_t> result;
    for (const size_t node : order) result.push_back(nodes.is_leaf(node) ? -1 : number[children[node]]);
    return result;
  };
  const std::vector<int64_t> left = renumbered(nodes.left);
  const std::vector<int64_t> right = renumbered(nodes.right);
  std::vector<int64_t> parents(order.size(), INT32_MAX);
  std::vector<int64_t> column;
  std::vector<int64_t> missing_left;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool leaf = nodes.is_leaf(order[i]);
    if (!leaf) parents[left[i]] = parents[right[i]] = static_cast<int64_t>(i);
    column.push_back(leaf ? 0 : nodes.column[order[i]]);
    missing_left.push_back(nodes.missing_left[order[i]] != 0 ? 1 : 0);
  }
  return fmt::format(
      R"({{"base_weights":{},"categories":[],"categories_nodes":[],"categories_segments":[],)"
      R"("categories_sizes":[],"default_left":{},"id":{},"left_children":{},"loss_changes":{},"parents":{},)"
      R"("right_children":{},"split_conditions":{},"split_indices":{},"split_type":{},"sum_hessian":{},)"
      R"("tree_param":{{"num_deleted":"0","num_feature":"{}","num_nodes":"{}","size_leaf_vector":"0"}}}})",
      text_of(nodes.weight, order), text_of(missing_left), id, text_of(left), text_of(nodes.gain, order),
      text_of(parents), text_of(right), text_of(nodes.condition, order), text_of(column),
      text_of(std::vector<int64_t>(order.size())), text_of(nodes.hessian, order), columns, order.size());
}

}  // namespace

std::string checked_trees(std::string_view saved, size_t columns) {
  const json value = read_binary(saved);
  const json& model = member(member(member(value, "learner"), "gradient_booster"), "model");
  std::vector<std::string> trees;
  for (const json& tree : list(model, "trees")) trees.push_back(text_of_tree(tree, trees.size(), columns));
  return fmt::format(
      R"({{"learner":{{"attributes":{{}},"feature_names":[],"feature_types":[],"gradient_booster":{{"model":)"
      R"({{"gbtree_model_param":{{"num_parallel_tree":"1","num_trees":"{}","size_leaf_vector":"0"}},)"
      R"("tree_info":{},"trees":[{}]}},"name":"gbtree"}},"learner_model_param":{{"base_score":"0E0",)"
      R"("boost_from_average":"0","num_class":"0","num_feature":"{}","num_target":"1"}},"objective":)"
      R"({{"name":"reg:squarederror","reg_loss_param":{{"scale_pos_weight":"1"}}}}}},"version":[1,7,4]}})",
      trees.size(), text_of(std::vector<int64_t>(trees.size())), fmt::join(trees, ","), columns);
}

}  // namespace tunesmith::xgboost
