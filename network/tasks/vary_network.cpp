// Makes one network for ranges of extents from networks at some of the values.
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "joined.h"
#include "tasks/find_tasks.h"
#include "tasks/vary_workload.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/support/contains.h"
#include "tunesmith/verification/verified_values.h"

namespace tunesmith::network {
namespace {

using Values = std::vector<int64_t>;

/// A name for workloads that no array and no axis has.
std::string parameter_name(const std::string& name, const std::vector<VaryingExtent>& others) {
  std::string made = "d_";
  for (const char c : name.substr(0, 40)) made += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  const bool is_new =
      std::ranges::none_of(others, [&](const VaryingExtent& other) { return other.parameter == made; });
  return is_new ? made : fmt::format("{}_{}", made, others.size());
}

std::vector<VaryingExtent> varying_of(const Dimensions& dimensions) {
  std::vector<VaryingExtent> varying;
  for (const auto& [name, range] : dimensions)
    if (range.lowest < range.highest) varying.push_back({name, parameter_name(name, varying), range});
  return varying;
}

/// Up to this number, all values are tried, so that none is interpolated.
constexpr size_t kAllTried = 16;

/// All values of the ranges; nothing if there are too many.
std::vector<Values> all_values(const std::vector<VaryingExtent>& varying) {
  std::vector<Values> all = {{}};
  for (const VaryingExtent& extent : varying) {
    std::vector<Values> longer;
    for (const Values& values : all) {
      for (int64_t value = extent.range.lowest; value <= extent.range.highest; ++value) {
        if (longer.size() == kAllTried) return {};
        longer.push_back(values);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// First those that FormFinder needs, then those at which libraries are timed and verified.
std::vector<Values> values_to_make(const std::vector<VaryingExtent>& varying) {
  const Program program = parameters_of(varying);
  std::vector<Values> values = {highest_values(program)};
  for (size_t i = 0; i < varying.size(); ++i) {
    values.push_back(values.front());
    --values.back()[i];
  }
  for (std::vector<Values> more : {typical_values(program), verified_values(program, 1), all_values(varying)})
    for (Values& one : more)
      if (!contains(values, one)) values.push_back(std::move(one));
  return values;
}

/// Is `part` a prefix of `whole` along each axis?
bool begins(const Constant& whole, const Constant& part) {
  if (part.dtype != whole.dtype || part.shape.size() != whole.shape.size()) return false;
  if (part.shape == whole.shape && part.bytes.data() == whole.bytes.data()) return true;
  if (part.shape == whole.shape) return std::ranges::equal(part.bytes, whole.bytes);
  if (!std::ranges::equal(part.shape, whole.shape, std::less_equal())) return false;
  const auto row = static_cast<size_t>(part.shape.empty() ? 1 : part.shape.back());
  const size_t size = row * static_cast<size_t>(part.dtype.bytes());
  for (size_t begin = 0; begin < part.bytes.size(); begin += size) {
    size_t at = 0, step = 1, rest = begin / static_cast<size_t>(part.dtype.bytes());
    for (size_t d = part.shape.size(); d-- > 0; step *= static_cast<size_t>(whole.shape[d])) {
      at += rest % static_cast<size_t>(part.shape[d]) * step;
      rest /= static_cast<size_t>(part.shape[d]);
    }
    const auto wanted = whole.bytes.subspan(at * static_cast<size_t>(part.dtype.bytes()), size);
    if (!std::ranges::equal(part.bytes.subspan(begin, size), wanted)) return false;
  }
  return true;
}

class Varying {
 public:
  Varying(const MakeNetwork& make, const Dimensions& dimensions)
      : varying_(varying_of(dimensions)), finder_(values_to_make(varying_)) {
    for (const Values& values : finder_.values()) {
      made_.push_back(made_at(make, dimensions, values));
      refuse_loops(made_.back().network);
      require_same(made_.size() - 1);
      share_constants(made_.back());
    }
  }

  TaskedNetwork run() {
    TaskedNetwork result;
    result.varying = varying_;
    for (const auto& [tensor, form] : forms()) result.forms[tensor] = form;
    for (size_t region = 0; region < first().regions.size(); ++region) {
      Workload workload = workload_for(region);
      result.regions.push_back(
          {std::move(workload), first().regions[region].inputs, first().regions[region].outputs});
    }
    result.nodes = first().nodes;
    result.network = std::move(made_.front().network);
    find_tasks(result);
    return result;
  }

 private:
  const TaskedNetwork& first() const { return made_.front(); }

  std::string said(const Values& values) const { return text_of_values(varying_, values); }

  std::string advice() const {
    std::vector<std::string> each;
    for (const VaryingExtent& extent : varying_)
      each.push_back(fmt::format("--dim {}={}", extent.name, extent.range.highest));
    return fmt::format("give a single value instead of a range: {}", fmt::join(each, " "));
  }

  /// `what` begins a sentence about a network or a node.
  [[noreturn]] void refuse(const std::string& what, const std::string& why) const {
    std::vector<std::string> names;
    for (const VaryingExtent& extent : varying_) names.push_back(fmt::format("'{}'", extent.name));
    throw UserError(fmt::format("{}: {} cannot vary: {}", what, fmt::join(names, " and "), why), advice());
  }

  void refuse_loops(const Network& network) const {
    if (!network.loops.empty())
      refuse(describe(network.nodes[network.loops.front().first_node]),
             "it is a step of a loop, whose rows have fixed distances");
  }

  TaskedNetwork made_at(const MakeNetwork& make, const Dimensions& dimensions, const Values& values) const {
    std::map<std::string, int64_t> given;
    for (const auto& [name, range] : dimensions) given[name] = range.highest;
    for (size_t i = 0; i < values.size(); ++i) given[varying_[i].name] = values[i];
    if (made_.empty()) return task_network(make(given, {}));
    try {
      Network network = make(given, {});
      const std::set<std::string> gone = nodes_without(network);
      return with_first_regions(gone.empty() ? std::move(network) : make(given, gone), values);
    } catch (const UserError& error) {
      refuse(fmt::format("with {}", said(values)), error.what());
    }
  }

  /// Names of the first network's nodes that the other lacks: for extents of 1 some nodes are identities.
  std::set<std::string> nodes_without(const Network& other) const {
    std::set<std::string> names;
    for (const Node& node : first().network.nodes) names.insert(node.name);
    for (const Node& node : other.nodes) names.erase(node.name);
    return names;
  }

  std::string is_other(const Values& values) const {
    return fmt::format("with {} it has another program than with {}", said(values),
                       said(finder_.values().front()));
  }

  /// Uses the regions of the network with the highest extents, whatever regions these values would have.
  TaskedNetwork with_first_regions(Network network, const Values& values) const {
    take_first_constants(network);
    const std::vector<Node>&ours = first().network.nodes, &theirs = network.nodes;
    for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      const bool same = i < std::min(ours.size(), theirs.size()) && ours[i].op == theirs[i].op &&
                        ours[i].inputs == theirs[i].inputs && ours[i].outputs == theirs[i].outputs;
      if (!same) throw UserError(describe(i < ours.size() ? ours[i] : theirs[i]) + ": " + is_other(values));
    }
    std::vector<Region> regions;
    for (size_t i = 0; i < first().regions.size(); ++i)
      regions.push_back({first().nodes[i], first().regions[i].outputs});
    TaskedNetwork made;
    made.regions = region_workloads(network, regions);
    made.network = std::move(network);
    return made;
  }

  /// Slices of a constant are separate constants, except where the slice is the whole. Replaces the constants
  /// of `network` by the corresponding ones of the first network, with the values of `network`. Changes
  /// nothing if the correspondence is not one-to-one.
  void take_first_constants(Network& network) const {
    const Network& ours = first().network;
    std::map<TensorIndex, TensorIndex> of, from;  // first network's constants by `network`'s, and the reverse
    for (size_t i = 0; i < std::min(ours.nodes.size(), network.nodes.size()); ++i) {
      const std::vector<TensorIndex>&a = ours.nodes[i].inputs, &b = network.nodes[i].inputs;
      for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
        if (of.try_emplace(b[k], a[k]).first->second != a[k] ||
            from.try_emplace(a[k], b[k]).first->second != b[k])
          return;
      }
    }
    std::map<TensorIndex, Tensor> moved;
    for (const auto& [theirs, mine] : of) {
      if (theirs == mine || theirs == kAbsent || mine == kAbsent) continue;
      const Tensor& tensor = network.tensor(theirs);
      if (tensor.constant == nullptr || ours.tensor(mine).constant == nullptr ||
          static_cast<size_t>(mine) >= network.tensors.size())
        return;
      moved[mine] = tensor;
      moved[mine].name = ours.tensor(mine).name;
    }
    for (Node& node : network.nodes) {
      for (TensorIndex& input : node.inputs)
        if (const auto found = of.find(input); found != of.end() && moved.contains(found->second))
          input = found->second;
    }
    for (auto& [mine, tensor] : moved) network.tensor(mine) = std::move(tensor);
  }

  const std::string& name(const TaskedNetwork& made, TensorIndex tensor) const {
    return made.network.tensor(tensor).name;
  }

  bool same_tensor(const TaskedNetwork& other, TensorIndex ours, TensorIndex theirs) const {
    const Tensor& a = first().network.tensor(ours);
    const Tensor& b = other.network.tensor(theirs);
    const bool same_part =
        a.part.has_value() == b.part.has_value() &&
        (!a.part || (name(first(), a.part->whole) == name(other, b.part->whole) &&
                     a.part->begin == b.part->begin && a.part->strides == b.part->strides));
    // Positions and masks are constants whose length follows a sequence: shorter ones are prefixes of the
    // longest.
    const bool same_constant =
        !a.constant == !b.constant && (!a.constant || begins(*a.constant, *b.constant));
    return a.name == b.name && a.order == b.order && same_part && same_constant;
  }

  bool same_tensors(const TaskedNetwork& other, const std::vector<TensorIndex>& ours,
                    const std::vector<TensorIndex>& theirs) const {
    return std::ranges::equal(ours, theirs,
                              [&](TensorIndex a, TensorIndex b) { return same_tensor(other, a, b); });
  }

  /// The regions must read and compute the same tensors, with equal layouts and equal constants.
  void require_same(size_t at) const {
    const TaskedNetwork& other = made_[at];
    const std::string why = is_other(finder_.values()[at]);
    for (size_t i = 0; i < first().regions.size(); ++i) {
      const NodeWorkload& ours = first().regions[i];
      const NodeWorkload& theirs = other.regions[i];
      if (!same_tensors(other, ours.inputs, theirs.inputs) ||
          !same_tensors(other, ours.outputs, theirs.outputs))
        refuse(describe(first().network.nodes[first().nodes[i].front()]), why);
    }
    if (!same_tensors(other, first().network.inputs, other.network.inputs) ||
        !same_tensors(other, first().network.outputs, other.network.outputs) ||
        first().network.counted != other.network.counted)
      refuse(fmt::format("network '{}'", first().network.name), why);
  }

  /// Keeps the longest copy of each constant: the other networks have prefixes of it.
  void share_constants(TaskedNetwork& other) {
    for (size_t i = 0; i < first().regions.size(); ++i) {
      const std::vector<TensorIndex>& inputs = first().regions[i].inputs;
      for (size_t k = 0; k < inputs.size(); ++k)
        other.network.tensor(other.regions[i].inputs[k]).constant =
            first().network.tensor(inputs[k]).constant;
    }
  }

  /// The tensors that a call or a region reads or computes, and those that contain them as parts, without
  /// constants, which are those of the highest values.
  std::set<TensorIndex> tensors_met() const {
    std::set<TensorIndex> met(first().network.inputs.begin(), first().network.inputs.end());
    met.insert(first().network.outputs.begin(), first().network.outputs.end());
    for (const NodeWorkload& region : first().regions) {
      met.insert(region.inputs.begin(), region.inputs.end());
      met.insert(region.outputs.begin(), region.outputs.end());
    }
    std::set<TensorIndex> wholes;
    for (const TensorIndex tensor : met)
      if (const auto& part = first().network.tensor(tensor).part) wholes.insert(part->whole);
    met.merge(wholes);
    std::erase_if(met,
                  [&](TensorIndex tensor) { return first().network.tensor(tensor).constant != nullptr; });
    return met;
  }

  std::map<TensorIndex, ShapeForm> forms() const {
    // By name: passes may have added other tensors before it.
    std::vector<std::map<std::string, Shape>> shapes;
    for (const TaskedNetwork& made : made_) {
      auto& of = shapes.emplace_back();
      for (const Tensor& tensor : made.network.tensors)
        if (tensor.dtype && tensor.shape && !tensor.elements) of[tensor.name] = input_of(tensor).type.shape;
    }
    std::map<TensorIndex, ShapeForm> forms;
    for (const TensorIndex tensor : tensors_met()) {
      std::vector<Shape> at;
      for (const auto& of : shapes) at.push_back(of.at(name(first(), tensor)));
      ShapeForm form = form_of(name(first(), tensor), at);
      if (std::ranges::any_of(form, &ExtentForm::varies)) forms[tensor] = std::move(form);
    }
    return forms;
  }

  ShapeForm form_of(const std::string& tensor, const std::vector<Shape>& at) const {
    ShapeForm form;
    for (size_t axis = 0; axis < at.front().size(); ++axis) {
      std::vector<int64_t> computed;
      for (const Shape& shape : at) {
        if (shape.size() != at.front().size())
          refuse(fmt::format("tensor '{}'", tensor), "its number of axes varies");
        computed.push_back(shape[axis]);
      }
      const auto found = finder_.find(computed);
      if (!found)
        refuse(fmt::format("tensor '{}'", tensor),
               fmt::format("its extent {} is not a linear function of the varying extents: it is {}",
                           axis + 1, fmt::join(computed, ", ")));
      form.push_back(*found);
    }
    return form;
  }

  Workload workload_for(size_t region) const {
    std::vector<std::string> texts;
    for (const TaskedNetwork& made : made_) texts.push_back(made.regions[region].workload.definition);
    const std::vector<size_t>& nodes = first().nodes[region];
    try {
      return vary_workload(texts, finder_, varying_, describe(first().network.nodes[nodes.front()]));
    } catch (const UserError& error) {
      if (nodes.size() > 1) blame(nodes);
      refuse(describe(first().network.nodes[nodes.front()]), error.what());
    }
  }

  /// Blames the first of the nodes that cannot vary by itself.
  void blame(const std::vector<size_t>& nodes) const {
    for (const size_t node : nodes) {
      const std::string title = describe(first().network.nodes[node]);
      std::vector<std::string> texts;
      try {
        for (const TaskedNetwork& made : made_)
          texts.push_back(workload_of(made.network, {&node, 1}).workload.definition);
        vary_workload(texts, finder_, varying_, title);
      } catch (const UserError& error) {
        refuse(title, error.what());
      }
    }
  }

  std::vector<VaryingExtent> varying_;
  FormFinder finder_;
  std::vector<TaskedNetwork> made_;  // one at each of the values
};

}  // namespace

TaskedNetwork task_network(const MakeNetwork& make, const Dimensions& dimensions) {
  std::map<std::string, int64_t> highest;
  for (const auto& [name, range] : dimensions) highest[name] = range.highest;
  if (varying_of(dimensions).empty()) return task_network(make(highest, {}));
  return Varying(make, dimensions).run();
}

TaskedNetwork at_values(const TaskedNetwork& tasked, std::span<const int64_t> values) {
  TaskedNetwork at;
  at.network = tasked.network;
  for (const auto& [tensor, form] : tasked.forms) {
    const Shape shape = shape_at({}, form, values);
    at.network.tensor(tensor).shape = std::vector<Extent>(shape.begin(), shape.end());
  }
  for (const NodeWorkload& region : tasked.regions) {
    const bool varies = !region.workload.program.parameters.empty();
    at.regions.push_back({at_values(region.workload, varies ? values : std::span<const int64_t>()),
                          region.inputs, region.outputs});
  }
  at.nodes = tasked.nodes;
  find_tasks(at);
  return at;
}

std::vector<std::vector<int64_t>> values_to_verify(std::span<const VaryingExtent> varying) {
  const Program program = parameters_of(varying);
  std::vector<std::vector<int64_t>> values = typical_values(program);
  for (std::vector<int64_t>& one : verified_values(program, 1))
    if (!contains(values, one)) values.push_back(std::move(one));
  return values;
}

}  // namespace tunesmith::network
