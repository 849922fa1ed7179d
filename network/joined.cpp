#include "joined.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "parts.h"
#include "tunesmith/workload/definition.h"
#include "tunesmith/workload/statements.h"

namespace tunesmith::network {
namespace {

using workload::Syntax;
using workload::SyntaxKind;

std::string array_name(TensorIndex tensor) { return fmt::format("v{}", tensor); }

/// The number in "in12", if the word begins with `kind`.
std::optional<size_t> number_after(std::string_view kind, std::string_view word) {
  if (!word.starts_with(kind)) return std::nullopt;
  size_t number = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + kind.size(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// The array element that the value is, possibly converted.
const Syntax* element_of(const Syntax& value) {
  if (value.kind == SyntaxKind::Access) return &value;
  return value.kind == SyntaxKind::Call && value.args.size() == 1 ? element_of(*value.args[0]) : nullptr;
}

/// A statement with the arrays that it reads.
struct Reading {
  workload::StatementSyntax statement;
  std::set<std::string> arrays;
};

/// Collects the parts of a workload.
class Joining {
 public:
  Joining(const Network* network, const std::function<bool(TensorIndex)>& is_output)
      : network_(network), is_output_(is_output) {}

  void add(const DefinedNode& defined) {
    const std::string& text = defined.computation.compute;
    std::vector<workload::StatementSyntax> statements;
    if (!text.empty()) statements = workload::parse_statements(text, describe(*defined.node));
    for (auto& statement : statements) {
      Reading& made = readings_.emplace_back(Reading{std::move(statement), {}});
      permute(made.statement.axes, place(defined, made.statement.target));
      substitute(defined, *made.statement.value, made.arrays, false);
    }
    ++nodes_;
  }

  NodeWorkload finish(const std::string& name, const std::string& origin) {
    if (outputs_.empty()) return {};
    NodeWorkload made{{}, {}, std::move(outputs_)};
    workload::Definition definition;
    definition.file = origin;
    definition.name = name;
    std::set<std::string> needed;
    for (const TensorIndex output : made.outputs) {
      definition.outputs.push_back({array_name(output), {}});
      needed.insert(array_name(output));
    }
    // Omits statements for outputs of a node that nothing here reads.
    for (Reading& each : readings_ | std::views::reverse) {
      if (!needed.contains(each.statement.target)) continue;
      needed.merge(each.arrays);
      definition.statements.push_back(std::move(each.statement));
    }
    std::ranges::reverse(definition.statements);
    for (const auto& [tensor, buffer] : given_) {
      if (!needed.contains(buffer->name)) continue;
      made.inputs.push_back(tensor);
      definition.inputs.push_back(workload::input_syntax(*buffer));
    }
    for (const std::vector<TensorIndex>* tensors : {&made.inputs, &made.outputs}) {
      for (const TensorIndex tensor : *tensors) {
        const auto& part = network_ == nullptr ? std::nullopt : network_->tensor(tensor).part;
        if (part && part->strides.size() > 1 && !lies_dense(network_->tensor(tensor)))
          definition.strides[array_name(tensor)] = {{}, workload::integer_leaves(part->strides)};
      }
    }
    definition.text = workload::to_text(definition);
    made.workload = workload::instantiate(definition, {});
    return made;
  }

 private:
  static bool lies_dense(const Tensor& tensor) {
    const Shape shape = lying_shape(tensor);
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
      if (shape[d] > 1 && tensor.part->strides[d] != stride) return false;
    return true;
  }

  std::vector<int32_t> order_of(TensorIndex tensor) const {
    return network_ == nullptr || tensor == kAbsent ? std::vector<int32_t>() : network_->tensor(tensor).order;
  }

  /// The axis order for the node's intermediate arrays: that of its first tensor that has an order.
  std::vector<int32_t> order_of_own(const Node& node) const {
    for (const std::vector<TensorIndex>* tensors : {&node.outputs, &node.inputs}) {
      for (const TensorIndex tensor : *tensors) {
        std::vector<int32_t> order = order_of(tensor);
        if (!order.empty()) return order;
      }
    }
    return {};
  }

  /// Replaces the node's name for the array by the workload's; returns the order of its axes.
  std::vector<int32_t> place(const DefinedNode& defined, std::string& array) {
    const Node& node = *defined.node;
    TensorIndex tensor = kAbsent;
    if (const auto input = number_after("in", array))
      read(tensor = node.inputs.at(*input), *defined.inputs.at(*input));
    else if (const auto output = number_after("out", array))
      write(tensor = node.outputs.at(*output), defined.computation.outputs.at(*output).shape);
    // An omitted tensor becomes an array that nothing reads.
    array = tensor == kAbsent ? fmt::format("n{}_{}", nodes_, array) : array_name(tensor);
    return tensor == kAbsent ? order_of_own(node) : order_of(tensor);
  }

  void substitute(const DefinedNode& defined, Syntax& value, std::set<std::string>& arrays, bool is_reduced) {
    if (!is_reduced) order_operands(defined, value);
    std::vector<int32_t> order;
    if (value.kind == SyntaxKind::Access) {
      order = place(defined, value.name);
      arrays.insert(value.name);
    }
    for (const workload::SyntaxPtr& part : value.args)
      substitute(defined, *part, arrays, is_reduced || value.kind == SyntaxKind::Reduce);
    if (value.kind == SyntaxKind::Access) permute(value.args, order);
  }

  /// Puts the operands of + and * in canonical order, so that networks share tasks. Exact: it does not
  /// reassociate, and leaves the terms of reductions, whose operands have roles.
  void order_operands(const DefinedNode& defined, Syntax& value) const {
    if (value.kind != SyntaxKind::Binary || (value.name != "+" && value.name != "*")) return;
    const auto left = rank(defined, *value.args[0]), right = rank(defined, *value.args[1]);
    if (left && right && *right < *left) std::swap(value.args[0], value.args[1]);
  }

  /// Order: tensors computed here, then inputs, then constants; within each, larger ones first, then those
  /// met earlier.
  using Rank = std::tuple<int, int64_t, size_t>;
  Rank rank_of(const NodeInput& given) const {
    return {given.constant == nullptr ? 1 : 2, -element_count(given.type.shape), met_.size()};
  }
  /// The rank of an element that the node reads.
  std::optional<Rank> rank(const DefinedNode& defined, const Syntax& operand) const {
    const Syntax* element = element_of(operand);
    const auto input = element == nullptr ? std::nullopt : number_after("in", element->name);
    if (!input) return std::nullopt;
    const auto met = met_.find(defined.node->inputs.at(*input));
    return met != met_.end() ? met->second : rank_of(*defined.inputs.at(*input));
  }

  void read(TensorIndex tensor, const NodeInput& given) {
    if (!met_.try_emplace(tensor, rank_of(given)).second) return;
    Shape shape = array_shape(given.type.shape);
    permute(shape, order_of(tensor));
    given_.emplace_back(tensor, make_buffer(array_name(tensor), given.type.dtype, std::move(shape),
                                            kScopeGlobal, given.constant != nullptr));
  }

  void write(TensorIndex tensor, const Shape& shape) {
    if (tensor == kAbsent) return;
    const bool is_new = met_.try_emplace(tensor, Rank{0, -element_count(shape), met_.size()}).second;
    if (is_new && is_output_(tensor)) outputs_.push_back(tensor);
  }

  const Network* network_;
  const std::function<bool(TensorIndex)>& is_output_;
  std::map<TensorIndex, Rank> met_;  // tensors that statements have read or computed
  std::vector<std::pair<TensorIndex, Buffer>> given_;
  std::vector<Reading> readings_;
  std::vector<TensorIndex> outputs_;
  size_t nodes_ = 0;
};

}  // namespace

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}@{})", node.name, node.op, node.version);
}

bool has_no_elements(const Tensor& tensor) {
  return tensor.shape && std::ranges::find(*tensor.shape, Extent(int64_t{0})) != tensor.shape->end();
}

Shape array_shape(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

DefinedNode define(const Node& node, std::vector<std::optional<NodeInput>> inputs) {
  if (!node.definition) throw UserError(describe(node) + " has no definition: the network is not resolved");
  const NodeView view{node, std::move(inputs)};
  try {
    Computation computation = node.definition->define(view);
    return {&node, view.inputs, std::move(computation)};
  } catch (const NeedsConstant& error) {
    throw NeedsConstant(error.input(), describe(node) + ": " + error.what());
  } catch (const UserError& error) {
    throw UserError(describe(node) + ": " + error.what());
  }
}

NodeInput input_of(const Tensor& tensor) {
  if (tensor.elements) return {{}, nullptr, &*tensor.elements};
  if (!tensor.dtype || !tensor.shape)
    throw UserError(
        fmt::format("the {} of tensor '{}' is not known", tensor.dtype ? "shape" : "type", tensor.name));
  TensorType type{*tensor.dtype, {}, tensor.code};
  for (const Extent& extent : *tensor.shape) {
    const auto* number = std::get_if<int64_t>(&extent);
    if (!number)
      throw UserError(fmt::format("tensor '{}' has an extent '{}' without a value", tensor.name,
                                  std::get<std::string>(extent)));
    type.shape.push_back(*number);
  }
  return {std::move(type), tensor.constant.get()};
}

std::vector<std::optional<NodeInput>> inputs_of(const Network& network, const Node& node) {
  std::vector<std::optional<NodeInput>> inputs;
  for (const TensorIndex input : node.inputs)
    inputs.push_back(input == kAbsent ? std::nullopt : std::optional(input_of(network.tensor(input))));
  return inputs;
}

NodeWorkload join(const std::string& name, std::span<const DefinedNode> nodes,
                  const std::function<bool(TensorIndex)>& is_output, const Network* network) {
  const std::string first = describe(*nodes.front().node);
  try {
    Joining joining(network, is_output);
    for (const DefinedNode& node : nodes) joining.add(node);
    return joining.finish(name, first);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: its statements are refused: {}", first, error.what()));
  }
}

}  // namespace tunesmith::network
