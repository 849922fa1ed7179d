#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "counting.h"
#include "expander.h"
#include "loops/fix_body.h"
#include "loops/repetition.h"
#include "passes.h"
#include "values.h"

namespace tunesmith::network {
namespace {

/// Larger constants are left to fold_constants: shape arithmetic is small.
constexpr int64_t kMaxShapeElements = 4096;

/// Dequantized numbers are no shapes, and later passes need the bytes.
bool dequantizes(const DefinedNode& defined) {
  return std::ranges::any_of(defined.inputs,
                             [](const auto& input) {
                               return input && (input->type.dtype == kU8 || input->type.dtype == kI8);
                             }) &&
         std::ranges::any_of(defined.computation.outputs,
                             [](const TensorType& type) { return type.dtype.is_float(); });
}

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
  ShapeFixer(Network& network, const PassOptions& options)
      : network_(network), options_(options), expander_(network), counting_(network) {}

  void run() {
    name_dimensions();
    std::deque<Node> pending(std::make_move_iterator(network_.nodes.begin()),
                             std::make_move_iterator(network_.nodes.end()));
    network_.nodes.clear();
    while (!pending.empty()) {
      const Node node = std::move(pending.front());
      pending.pop_front();
      std::vector<Node> made;
      if (!is_replaced(node, pending, made)) continue;
      pending.insert(pending.begin(), std::make_move_iterator(made.begin()),
                     std::make_move_iterator(made.end()));
      has_replaced_ = true;
    }
    refuse_sequences();
    raise_refused();
    counting_.give_counts();
    // Removes dead nodes, whose types may be unknown.
    if (!faults_.empty() || has_replaced_) eliminate_dead_code(network_, options_);
    remove_constant_nodes(network_);
  }

 private:
  /// A refused node.
  struct Fault {
    size_t node;
    std::string message;
    TensorIndex wanted = kAbsent;  ///< the network's input whose values the node needs in advance
  };

  Tensor& tensor(TensorIndex index) { return network_.tensor(index); }

  /// Applies the given dimensions to the inputs; the extents of other tensors are computed, not read.
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
                      fmt::format("set them, as in --dim {}=1", *missing.begin()));
  }

  bool reads_unknown(const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](TensorIndex input) { return unknown_.contains(input); });
  }

  /// The inputs with their counts. Omits those that are unknown because the node that computes them is
  /// refused.
  std::vector<std::optional<NodeInput>> known_inputs(const Node& node) {
    Node known = node;
    for (TensorIndex& input : known.inputs)
      if (unknown_.contains(input)) input = kAbsent;
    std::vector<std::optional<NodeInput>> inputs = inputs_of(network_, known);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      inputs[i]->count = counting_.of(known.inputs[i]);
      inputs[i]->highest = counting_.highest(known.inputs[i]);
    }
    return inputs;
  }

  /// Fixes the node, unless other nodes replace it: `made` gets these. `behind`: the nodes that follow.
  bool is_replaced(const Node& given, const std::deque<Node>& behind, std::vector<Node>& made) {
    Node node = given;
    if (!node.definition) node.definition = options_.find_operator(node.op, node.version);
    // An expanded body may not read the inputs that are refused, so it is tried in spite of them.
    const bool is_open = reads_unknown(node);
    try {
      if (!node.definition) throw UserError(describe(node) + ": unsupported operator");
      if (is_repetition(node) && !is_open) {
        if (const auto why = fix_body(network_, node, options_)) {
          expander_.unroll(node, *why, made);
          return true;
        }
      } else if (!is_open || !node.bodies.empty()) {
        NodeView view{node, known_inputs(node)};
        // Adding tensors moves the others, so the lists are copied.
        std::deque<std::vector<TensorIndex>> sequences;
        for (auto& input : view.inputs)
          if (input && input->elements) input->elements = &sequences.emplace_back(*input->elements);
        if (expander_.expand(node, view, behind, made)) return true;
      }
    } catch (const NeedsConstant& error) {
      refuse(node, error.what(), given_source(node.inputs[error.input()]));
      return false;
    } catch (const UserError& error) {
      refuse(node, error.what());
      return false;
    }
    network_.nodes.push_back(std::move(node));
    if (is_open) {
      skipped_.push_back(network_.nodes.size() - 1);
      mark_unknown(network_.nodes.back());
    } else {
      fix(network_.nodes.back());
    }
    return false;
  }

  void refuse(Node node, const std::string& message, TensorIndex wanted = kAbsent) {
    mark_unknown(node);
    network_.nodes.push_back(std::move(node));
    faults_.push_back({network_.nodes.size() - 1, message, wanted});
  }

  DefinedNode defined_of(Node& node) {
    for (;;) {
      try {
        return define(node, inputs_of(network_, node));
      } catch (const NeedsConstant& error) {
        if (!counting_.give_highest(node, error.input())) throw;
      }
    }
  }

  void fix(Node& node) {
    try {
      for (const TensorIndex input : node.inputs)
        if (input != kAbsent && tensor(input).elements)
          throw UserError(describe(node) + ": an input is a sequence or an optional value");
      const DefinedNode defined = defined_of(node);
      const bool is_whole = counting_.pass_through(network_.nodes.size() - 1, defined);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kAbsent) set_type(node, node.outputs[i], defined.computation.outputs.at(i));
      if (is_whole) set_constants(defined);
    } catch (const NeedsConstant& error) {
      faults_.push_back({network_.nodes.size() - 1, error.what(), given_source(node.inputs[error.input()])});
      mark_unknown(node);
    } catch (const UserError& error) {
      faults_.push_back({network_.nodes.size() - 1, error.what()});
      mark_unknown(node);
    }
  }

  /// The network's results must be tensors.
  void refuse_sequences() {
    for (const TensorIndex output : network_.outputs)
      if (tensor(output).elements)
        throw UserError(fmt::format("network '{}': its result '{}' is a sequence or an optional value",
                                    network_.name, tensor(output).name));
  }

  /// The input of the network whose values are needed in advance to know `wanted`: `wanted` itself, or one of
  /// the few small integer inputs from which it is computed; else kAbsent.
  TensorIndex given_source(TensorIndex wanted) const {
    constexpr int64_t kMaxGiven = 64;
    const auto is_given = [&](TensorIndex input) {
      return std::ranges::find(network_.inputs, input) != network_.inputs.end();
    };
    if (is_given(wanted)) return wanted;
    std::set<TensorIndex> open{wanted};
    for (size_t i = network_.nodes.size(); i-- > 0;) {
      const Node& node = network_.nodes[i];
      const bool computes =
          std::ranges::any_of(node.outputs, [&](TensorIndex output) { return open.erase(output) > 0; });
      for (const TensorIndex input : node.inputs)
        if (computes && input != kAbsent && !network_.tensor(input).constant) open.insert(input);
    }
    for (const TensorIndex input : open) {
      const Tensor& source = network_.tensor(input);
      if (!is_given(input) || !source.dtype || source.dtype->is_float() ||
          element_count(input_of(source).type.shape) > kMaxGiven)
        return kAbsent;
    }
    return open.empty() ? kAbsent : *open.begin();
  }

  void mark_unknown(const Node& node) {
    unknown_.insert(node.outputs.begin(), node.outputs.end());
    unknown_.erase(kAbsent);
  }

  /// For each node: does a result need it?
  std::vector<bool> needed_nodes() const {
    std::set<TensorIndex> read(network_.outputs.begin(), network_.outputs.end());
    std::vector<bool> needed(network_.nodes.size(), false);
    for (size_t i = network_.nodes.size(); i-- > 0;) {
      const Node& node = network_.nodes[i];
      needed[i] =
          std::ranges::any_of(node.outputs, [&](TensorIndex output) { return read.contains(output); });
      if (needed[i]) read.insert(node.inputs.begin(), node.inputs.end());
    }
    return needed;
  }

  void raise_refused() const {
    const std::vector<bool> needed = needed_nodes();
    std::map<std::pair<std::string, int64_t>, std::vector<size_t>> missing;  // nodes, by operator
    Refusals refusals;
    for (const Fault& fault : faults_) {
      const Node& node = network_.nodes[fault.node];
      if (!needed[fault.node]) continue;
      if (fault.wanted != kAbsent) throw UnknownValues(fault.wanted, fault.message);
      if (!node.definition) {
        missing[{node.op, node.version}].push_back(fault.node);
        continue;
      }
      const std::string prefix = describe(node) + ": ";
      const bool is_named = fault.message.starts_with(prefix);
      refusals.add({node.op, is_named ? fault.message.substr(prefix.size()) : fault.message, {fault.node}},
                   fault.message);
    }
    for (const auto& [op, nodes] : missing) {
      std::vector<std::string> names;
      for (const size_t node : nodes) names.push_back(fmt::format("'{}'", network_.nodes[node].name));
      refusals.add({op.first, "unsupported operator", nodes},
                   fmt::format("unsupported operator {}@{}: node{} {}", op.first, op.second,
                               names.size() > 1 ? "s" : "", fmt::join(names, ", ")));
    }
    if (!missing.empty()) refusals.remark("define it in the workload language with --operators");
    const auto skipped = std::ranges::count_if(skipped_, [&](size_t node) { return needed[node]; });
    if (skipped > 0) refusals.remark(fmt::format("{} nodes depend on them", skipped));
    refusals.raise(fmt::format("network '{}' has unsupported nodes", network_.name), network_);
  }

  /// Checks the declared type against the computed one.
  void set_type(const Node& node, TensorIndex index, const TensorType& type) {
    Tensor& output = tensor(index);
    if (output.dtype && *output.dtype != type.dtype)
      throw UserError(fmt::format("{}: its output '{}' has type {}, the file declares {}", describe(node),
                                  output.name, type.dtype.str(), output.dtype->str()));
    const std::optional<Count> count = counting_.of(index);
    bool same = !output.shape || output.shape->size() == type.shape.size();
    for (size_t axis = 0; output.shape && same && axis < type.shape.size(); ++axis) {
      const auto* number = std::get_if<int64_t>(&(*output.shape)[axis]);
      const bool is_bound = count && count->axis == axis;
      same = !number || *number == type.shape[axis] || (is_bound && *number < type.shape[axis]);
    }
    if (!same) {
      std::vector<std::string> declared;
      for (const Extent& extent : *output.shape)
        declared.push_back(std::visit([](const auto& value) { return fmt::format("{}", value); }, extent));
      throw UserError(fmt::format("{}: its output '{}' has shape [{}], the file declares [{}]",
                                  describe(node), output.name, fmt::join(type.shape, ", "),
                                  fmt::join(declared, ", ")));
    }
    output.dtype = type.dtype;
    output.code = type.code;
    output.shape = std::vector<Extent>(type.shape.begin(), type.shape.end());
  }

  void set_constants(const DefinedNode& defined) {
    const Node& node = *defined.node;
    if (is_repetition(node)) return;
    const auto& constants = defined.computation.constants;
    for (size_t i = 0; i < constants.size(); ++i)
      if (constants[i] && node.outputs[i] != kAbsent) tensor(node.outputs[i]).constant = constants[i];
    const bool is_open = std::ranges::any_of(
        node.outputs, [&](TensorIndex output) { return output != kAbsent && !tensor(output).constant; });
    if (!is_open || !is_small(defined) || dequantizes(defined)) return;
    fold(network_, defined);
  }

  Network& network_;
  const PassOptions& options_;
  std::vector<Fault> faults_;
  std::vector<size_t> skipped_;    ///< nodes whose inputs are unknown
  std::set<TensorIndex> unknown_;  ///< outputs of refused and skipped nodes
  Expander expander_;
  Counting counting_;
  bool has_replaced_ = false;
};

/// The computed value of each named extent of a result that differs from the given value.
std::map<std::string, int64_t> contradictions(const Network& declared, const Network& fixed,
                                              const std::map<std::string, int64_t>& dimensions) {
  std::map<std::string, int64_t> found;
  for (const TensorIndex output : declared.outputs) {
    const auto& names = declared.tensor(output).shape;
    for (size_t i = 0; names && i < names->size(); ++i) {
      const auto* name = std::get_if<std::string>(&(*names)[i]);
      const auto given = name ? dimensions.find(*name) : dimensions.end();
      if (given == dimensions.end()) continue;
      const auto computed = std::get<int64_t>(fixed.tensor(output).shape.value()[i]);
      if (computed != given->second) found.emplace(*name, computed);
    }
  }
  return found;
}

/// The names of results' extents may be meaningless. But if other values make the network consistent with
/// them, those values were meant, and the given ones are refused.
void refuse_contradiction(const Network& given, const Network& fixed, PassOptions options) {
  const auto found = contradictions(given, fixed, options.dimensions);
  if (found.empty()) return;
  std::vector<std::string> wrong, right;
  for (const auto& [name, value] : found) {
    wrong.push_back(
        fmt::format("'{}' is declared {} but computed as {}", name, options.dimensions.at(name), value));
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
