#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "axis_use.h"
#include "copy.h"
#include "joined.h"
#include "parts.h"
#include "passes.h"
#include "regions/node_kinds.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/verification/tensor.h"
#include "unique_name.h"
#include "values.h"

namespace tunesmith::network {
namespace {

/// Nodes to merge: they do the same on different inputs, whose concatenation along `axis` concatenates their
/// results.
struct Level {
  std::vector<size_t> nodes;
  AxisUse use;
};

struct Group {
  size_t axis = 0;
  std::vector<Level> levels;  // products, then the element-wise nodes after them
};

class Merging {
 public:
  explicit Merging(Network& network) : network_(network), facts_(node_facts(network)) {
    for (const Region& region : form_regions(network)) {
      for (const size_t node : region.nodes) {
        if (facts_[node].kind == NodeKind::View) continue;
        for (const size_t other : region.nodes) beside_[node].insert(other);
      }
    }
  }

  void run() {
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (removed_.contains(i) || facts_[i].kind != NodeKind::Contraction || facts_[i].varying_inputs != 1 ||
          network_.nodes[i].outputs.size() != 1)
        continue;
      if (std::optional<Group> group = group_from(i)) {
        sort_members(*group);
        merge(*group);
      }
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (const auto added = added_before_.find(i); added != added_before_.end())
        std::ranges::move(added->second, std::back_inserter(nodes));
      if (!removed_.contains(i)) nodes.push_back(std::move(network_.nodes[i]));
    }
    network_.nodes = std::move(nodes);
  }

 private:
  Tensor& tensor(TensorIndex index) { return network_.tensor(index); }
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }
  bool is_constant(TensorIndex index) const { return index != kAbsent && tensor(index).constant != nullptr; }
  Shape shape_of(TensorIndex index) const { return input_of(tensor(index)).type.shape; }

  /// The products that read the same data as the one at `first`, and differ in their weights only.
  std::optional<Group> group_from(size_t first) const {
    const size_t rank = shape_of(network_.nodes[first].outputs.front()).size();
    for (size_t axis = rank; axis-- > 0;) {
      const std::optional<AxisUse> use = axis_use(network_, first, axis);
      if (!use || !concatenates_constants_alone(network_.nodes[first], *use)) continue;
      Group group{axis, {{{first}, *use}}};
      for (size_t i = first + 1; i < network_.nodes.size(); ++i) {
        if (fits(first, i, axis, *use, [](TensorIndex, TensorIndex) { return false; }))
          group.levels.front().nodes.push_back(i);
      }
      if (group.levels.front().nodes.size() < 2) continue;
      add_followers(group);
      if (saves_kernels(group)) return group;
    }
    return std::nullopt;
  }

  bool concatenates_constants_alone(const Node& node, const AxisUse& use) const {
    bool any = false;
    for (size_t i = 0; i < use.size(); ++i) {
      if (use[i] && !is_constant(node.inputs[i])) return false;
      any |= use[i].has_value();
    }
    return any;
  }

  /// Does `other` equal `node` except for inputs along the axis? `are_beside` decides this for computed
  /// inputs.
  template <typename Beside>
  bool fits(size_t node, size_t other, size_t axis, const AxisUse& use, const Beside& are_beside) const {
    const Node &a = network_.nodes[node], &b = network_.nodes[other];
    if (removed_.contains(other) || a.definition != b.definition || a.op != b.op || a.version != b.version ||
        a.attributes != b.attributes || a.inputs.size() != b.inputs.size() ||
        facts_[node].kind != facts_[other].kind || b.outputs.size() != 1)
      return false;
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (!use[i]) {
        if (a.inputs[i] != b.inputs[i]) return false;
        continue;
      }
      if (is_constant(a.inputs[i]) != is_constant(b.inputs[i])) return false;
      if (is_constant(a.inputs[i]) ? !are_alike(a.inputs[i], b.inputs[i], *use[i])
                                   : !are_beside(a.inputs[i], b.inputs[i]))
        return false;
    }
    return axis_use(network_, other, axis) == use;
  }

  /// Can the two tensors be concatenated along the axis?
  bool are_alike(TensorIndex a, TensorIndex b, size_t axis) const {
    Shape left = shape_of(a), right = shape_of(b);
    if (tensor(a).dtype != tensor(b).dtype || left.size() != right.size()) return false;
    left[axis] = right[axis] = 0;
    return left == right;
  }

  /// Adds element-wise nodes that do the same with each member's result.
  void add_followers(Group& group) const {
    const size_t members = group.levels.front().nodes.size();
    std::map<TensorIndex, std::vector<TensorIndex>> beside;  // all members' tensors, by the first member's
    const auto results = [&](const Level& level) {
      std::vector<TensorIndex> all;
      for (const size_t node : level.nodes) all.push_back(network_.nodes[node].outputs.front());
      return all;
    };
    const auto add = [&](const Level& level) { beside[results(level).front()] = results(level); };
    add(group.levels.front());
    for (size_t node = group.levels.front().nodes.front() + 1; node < network_.nodes.size(); ++node) {
      const Node& of = network_.nodes[node];
      const auto reads = [&](TensorIndex input) { return beside.contains(input); };
      if (removed_.contains(node) || facts_[node].kind != NodeKind::Elementwise || of.outputs.size() != 1 ||
          std::ranges::none_of(of.inputs, reads) || !std::ranges::all_of(of.inputs, [&](TensorIndex input) {
            return reads(input) || input == kAbsent || is_constant(input);
          }))
        continue;
      const std::optional<AxisUse> use = axis_use(network_, node, group.axis);
      if (!use || !reads_along(of, *use, beside, group.axis)) continue;
      Level level{{node}, *use};
      for (size_t member = 1; member < members; ++member) {
        for (size_t other = 0; other < network_.nodes.size(); ++other) {
          if (other == node || !fits(node, other, group.axis, *use, [&](TensorIndex a, TensorIndex b) {
                return beside.contains(a) && beside.at(a)[member] == b;
              }))
            continue;
          level.nodes.push_back(other);
          break;
        }
      }
      if (level.nodes.size() != members) continue;
      add(level);
      group.levels.push_back(std::move(level));
    }
  }

  static bool reads_along(const Node& node, const AxisUse& use,
                          const std::map<TensorIndex, std::vector<TensorIndex>>& beside, size_t axis) {
    for (size_t i = 0; i < use.size(); ++i) {
      if (beside.contains(node.inputs[i]) && use[i] != axis) return false;
    }
    return true;
  }

  /// A member whose kernel computes more than the merged nodes still needs a kernel.
  bool saves_kernels(const Group& group) const {
    std::set<size_t> merged;
    for (const Level& level : group.levels) merged.insert(level.nodes.begin(), level.nodes.end());
    size_t more = 0;
    for (const size_t product : group.levels.front().nodes) {
      more += std::ranges::any_of(
                  beside_.at(product),
                  [&](size_t node) { return facts_[node].kind != NodeKind::View && !merged.contains(node); })
                  ? 1
                  : 0;
    }
    return group.levels.front().nodes.size() > more + 1;
  }

  /// A member that is concatenated with an earlier tensor comes first, and one concatenated with a later
  /// tensor comes last, so that it need not be moved (join_in_place).
  void sort_members(Group& group) const {
    std::vector<size_t> order(group.levels.front().nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t member) { return place_among_members(group, member); });
    for (Level& level : group.levels) {
      std::vector<size_t> sorted;
      for (const size_t member : order) sorted.push_back(level.nodes[member]);
      level.nodes = std::move(sorted);
    }
  }

  int place_among_members(const Group& group, size_t member) const {
    for (const Level& level : group.levels) {
      const TensorIndex result = network_.nodes[level.nodes[member]].outputs.front();
      for (const Node& node : network_.nodes) {
        if (std::ranges::find(node.inputs, result) == node.inputs.end() || !joined_axis(network_, node))
          continue;
        if (node.inputs.back() == result) return -1;
        if (node.inputs.front() == result) return 1;
      }
    }
    return 0;
  }

  void merge(const Group& group) {
    std::map<TensorIndex, TensorIndex> whole_of;  // the merged tensors, by those of the first member
    std::vector<std::pair<std::vector<TensorIndex>, TensorIndex>> joined;
    std::set<size_t> members;
    std::vector<Node>& added = added_before_[std::ranges::min(group.levels.front().nodes)];
    for (const Level& level : group.levels) {
      Node whole = network_.nodes[level.nodes.front()];
      whole.name = unique_name(network_, whole.name + "/merged");
      for (size_t i = 0; i < whole.inputs.size(); ++i) {
        if (!level.use[i]) continue;
        const auto found = whole_of.find(whole.inputs[i]);
        whole.inputs[i] = found == whole_of.end() ? concatenated(level, i) : found->second;
      }
      std::vector<TensorIndex> parts;
      for (const size_t node : level.nodes) parts.push_back(network_.nodes[node].outputs.front());
      const TensorIndex result = whole_result(parts, group.axis);
      whole_of[parts.front()] = result;
      whole.outputs = {result};
      added.push_back(std::move(whole));
      joined.emplace_back(std::move(parts), result);
      members.insert(level.nodes.begin(), level.nodes.end());
    }
    for (const auto& [parts, whole] : joined) add_slices(added, members, parts, whole, group.axis);
    removed_.insert(members.begin(), members.end());
  }

  TensorIndex whole_result(const std::vector<TensorIndex>& parts, size_t axis) {
    Tensor whole = tensor(parts.front());
    whole.name = unique_name(network_, whole.name + "/merged");
    int64_t extent = 0;
    for (const TensorIndex part : parts) extent += shape_of(part)[axis];
    (*whole.shape)[axis] = extent;
    return network_.add(std::move(whole));
  }

  /// Concatenates the constants that the level's nodes have as this input.
  TensorIndex concatenated(const Level& level, size_t input) {
    const size_t axis = *level.use[input];
    std::vector<tunesmith::Tensor> parts;
    for (const size_t node : level.nodes)
      parts.push_back(to_tensor(*tensor(network_.nodes[node].inputs[input]).constant));
    Shape shape = parts.front().shape;
    shape[axis] = 0;
    for (const tunesmith::Tensor& part : parts) shape[axis] += part.shape[axis];
    tunesmith::Tensor whole = tunesmith::Tensor::zeros(parts.front().dtype, shape);
    // Contiguous bytes for one index of the outer axes.
    const int64_t rows = element_count({shape.begin(), shape.begin() + static_cast<int64_t>(axis)});
    auto to = whole.bytes.begin();
    for (int64_t row = 0; row < rows; ++row) {
      for (const tunesmith::Tensor& part : parts) {
        const auto length = static_cast<int64_t>(part.bytes.size()) / rows;
        to = std::copy_n(part.bytes.begin() + row * length, length, to);
      }
    }
    Tensor made = tensor(network_.nodes[level.nodes.front()].inputs[input]);
    made.name = unique_name(network_, made.name + "/merged");
    made.shape = std::vector<Extent>(shape.begin(), shape.end());
    made.constant = to_constant(std::move(whole));
    return network_.add(std::move(made));
  }

  /// Adds slices for tensors that nodes outside the group, or the caller, read.
  void add_slices(std::vector<Node>& added, const std::set<size_t>& members,
                  const std::vector<TensorIndex>& parts, TensorIndex whole, size_t axis) {
    int64_t begin = 0;
    for (const TensorIndex part : parts) {
      bool is_read = std::ranges::find(network_.outputs, part) != network_.outputs.end();
      for (size_t i = 0; i < network_.nodes.size(); ++i)
        is_read |= !members.contains(i) &&
                   std::ranges::find(network_.nodes[i].inputs, part) != network_.nodes[i].inputs.end();
      const int64_t extent = shape_of(part)[axis];
      if (is_read)
        added.push_back(slice_node(unique_name(network_, tensor(part).name + "/part"), whole, part,
                                   static_cast<int64_t>(axis), begin, extent));
      begin += extent;
    }
  }

  Network& network_;
  std::vector<NodeFacts> facts_;
  std::map<size_t, std::set<size_t>> beside_;  // the nodes of the same region, for each node that is no view
  std::set<size_t> removed_;
  std::map<size_t, std::vector<Node>> added_before_;
};

}  // namespace

void merge_products(Network& network, const PassOptions& /*options*/) { Merging(network).run(); }

}  // namespace tunesmith::network
