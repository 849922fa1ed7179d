#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes.h"
#include "values.h"

namespace tunesmith::network {
namespace {

/// Shape arithmetic is small; larger constants wait for fold_constants.
constexpr int64_t kMaxShapeElements = 4096;

bool is_small(const DefinedNode& defined) {
  const auto small = [](const Shape& shape) { return element_count(shape) <= kMaxShapeElements; };
  return std::ranges::all_of(
             defined.inputs,
             [&](const auto& input) { return !input || (input->constant && small(input->type.shape)); }) &&
         std::ranges::all_of(defined.computation.outputs,
                             [&](const TensorType& type) { return small(type.shape); });
}

class ShapeFixer {
 public:
  ShapeFixer(Network& network, const PassOptions& options) : network_(network), options_(options) {}

  void run() {
    name_dimensions();
    for (const Node& node : network_.nodes) fix(node);
    if (skipped_ > 0) refusals_.remark(fmt::format("{} nodes read what these compute", skipped_));
    refusals_.raise(fmt::format("network '{}' has nodes that are refused", network_.name));
    remove_constant_nodes(network_);
  }

 private:
  Tensor& tensor(TensorIndex index) { return network_.tensors[static_cast<size_t>(index)]; }

  /// Of the inputs; what nodes compute follows from them, whatever the file calls its extents.
  void name_dimensions() {
    std::set<std::string> missing;
    for (const TensorIndex input : network_.inputs) {
      if (!tensor(input).shape) continue;
      for (Extent& extent : *tensor(input).shape) {
        const auto* name = std::get_if<std::string>(&extent);
        if (!name) continue;
        const auto found = options_.dimensions.find(*name);
        if (found == options_.dimensions.end())
          missing.insert(*name);
        else
          extent = found->second;
      }
    }
    if (!missing.empty())
      throw UserError(fmt::format("network '{}' has extents without a value: {}", network_.name,
                                  fmt::join(missing, ", ")),
                      fmt::format("give them: --dim {}=1", *missing.begin()));
  }

  bool reads_unknown(const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](TensorIndex input) { return unknown_.contains(input); });
  }

  void fix(const Node& node) {
    if (reads_unknown(node)) {
      ++skipped_;
      unknown_.insert(node.outputs.begin(), node.outputs.end());
      unknown_.erase(kAbsent);
      return;
    }
    try {
      const DefinedNode defined = define(node, inputs_of(network_, node));
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kAbsent)
          set_type(node, tensor(node.outputs[i]), defined.computation.outputs.at(i));
      set_constants(defined);
    } catch (const NeedsConstant& error) {
      const TensorIndex wanted = node.inputs[error.input()];
      // Who gives the inputs may know their values ahead.
      if (std::ranges::find(network_.inputs, wanted) != network_.inputs.end())
        throw UnknownValues(wanted, error.what());
      refuse(node, error.what());
    } catch (const UserError& error) {
      refuse(node, error.what());
    }
  }

  void refuse(const Node& node, const std::string& message) {
    const std::string prefix = describe(node) + ": ";
    refusals_.add({node.op, message.starts_with(prefix) ? message.substr(prefix.size()) : message}, message);
    unknown_.insert(node.outputs.begin(), node.outputs.end());
    unknown_.erase(kAbsent);
  }

  /// What the file says of a tensor must be what its node computes.
  static void set_type(const Node& node, Tensor& output, const TensorType& type) {
    if (output.dtype && *output.dtype != type.dtype)
      throw UserError(fmt::format("{}: its output '{}' is of type {}, the file says {}", describe(node),
                                  output.name, type.dtype.str(), output.dtype->str()));
    const bool same =
        !output.shape ||
        std::ranges::equal(*output.shape, type.shape, [](const Extent& extent, int64_t computed) {
          const auto* number = std::get_if<int64_t>(&extent);
          return !number || *number == computed;
        });
    if (!same) {
      std::vector<std::string> declared;
      for (const Extent& extent : *output.shape)
        declared.push_back(std::visit([](const auto& value) { return fmt::format("{}", value); }, extent));
      throw UserError(fmt::format("{}: its output '{}' has the shape [{}], the file says [{}]",
                                  describe(node), output.name, fmt::join(type.shape, ", "),
                                  fmt::join(declared, ", ")));
    }
    output.dtype = type.dtype;
    output.shape = std::vector<Extent>(type.shape.begin(), type.shape.end());
  }

  void set_constants(const DefinedNode& defined) {
    const Node& node = *defined.node;
    const auto& constants = defined.computation.constants;
    for (size_t i = 0; i < constants.size(); ++i)
      if (constants[i] && node.outputs[i] != kAbsent) tensor(node.outputs[i]).constant = constants[i];
    const bool is_open = std::ranges::any_of(
        node.outputs, [&](TensorIndex output) { return output != kAbsent && !tensor(output).constant; });
    if (!is_open || !is_small(defined)) return;
    fold(network_, defined);
  }

  Network& network_;
  const PassOptions& options_;
  Refusals refusals_;
  std::set<TensorIndex> unknown_;  ///< outputs of nodes that are refused
  int64_t skipped_ = 0;
};

/// Results of which the file names an extent: what it comes out as, where that is not what it was given.
std::map<std::string, int64_t> contradictions(const Network& declared, const Network& fixed,
                                              const std::map<std::string, int64_t>& dimensions) {
  std::map<std::string, int64_t> found;
  for (const TensorIndex output : declared.outputs) {
    const auto& names = declared.tensors[static_cast<size_t>(output)].shape;
    for (size_t i = 0; names && i < names->size(); ++i) {
      const auto* name = std::get_if<std::string>(&(*names)[i]);
      const auto given = name ? dimensions.find(*name) : dimensions.end();
      if (given == dimensions.end()) continue;
      const auto computed = std::get<int64_t>(fixed.tensors[static_cast<size_t>(output)].shape.value()[i]);
      if (computed != given->second) found.emplace(*name, computed);
    }
  }
  return found;
}

/// Files name extents of results as they like. But where the network comes out as they say with other values,
/// it is these that were meant.
void refuse_contradiction(const Network& given, const Network& fixed, PassOptions options) {
  const auto found = contradictions(given, fixed, options.dimensions);
  if (found.empty()) return;
  std::vector<std::string> wrong, right;
  for (const auto& [name, value] : found) {
    wrong.push_back(fmt::format("'{}' is {} and comes out as {}", name, options.dimensions.at(name), value));
    right.push_back(fmt::format("--dim {}={}", name, value));
    options.dimensions[name] = value;
  }
  Network other = given;
  try {
    ShapeFixer(other, options).run();
  } catch (const UserError&) {
    return;
  }
  if (contradictions(given, other, options.dimensions).empty())
    throw UserError(
        fmt::format("network '{}': of its results' extents {}", given.name, fmt::join(wrong, ", ")),
        fmt::format("give {}", fmt::join(right, " ")));
}

}  // namespace

void fix_shapes(Network& network, const PassOptions& options) {
  const Network given = network;
  ShapeFixer(network, options).run();
  refuse_contradiction(given, network, options);
}

}  // namespace tunesmith::network
