#include "axis_use.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/network/node_workload.h"

namespace tunesmith::network {
namespace {

/// Is the variable used outside of the indices of loads, which are reads of their own?
bool computes_with(const Expr& value, const Var& var) {
  if (value.same_as(var)) return true;
  if (value.is(ExprKind::Load)) return false;
  return std::ranges::any_of(value.args(), [&](const Expr& operand) { return computes_with(operand, var); });
}

/// The axes whose index is just the variable, at most one; nothing if another index computes with it, or
/// several are it.
std::optional<std::vector<size_t>> axes_of(std::span<const Expr> indices, const Var& var) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].same_as(var))
      axes.push_back(i);
    else if (computes_with(indices[i], var))
      return std::nullopt;
  }
  return axes.size() > 1 ? std::nullopt : std::optional(axes);
}

/// Traces the axis from the result back to each array.
class Tracing {
 public:
  /// False if the elements of the block's array are not independent along its axis.
  bool trace(const Block& block) {
    const Store* store = body_store(block);
    if (store == nullptr) return false;
    if (!axes_.contains(store->buffer)) return true;  // another result needs it
    const std::optional<size_t> axis = axes_.at(store->buffer);
    if (!axis)
      return std::ranges::all_of(reads_of(block),
                                 [&](const Access& read) { return meet(read.buffer, std::nullopt); });
    if (!store->indices[*axis].is(ExprKind::Var)) return false;
    const Var var = Var::from(store->indices[*axis]);
    if (!axes_of(store->indices, var) || computes_with(store->value, var)) return false;
    return std::ranges::all_of(reads_of(block), [&](const Access& read) {
      const auto axes = axes_of(read.indices, var);
      return axes && meet(read.buffer, axes->empty() ? std::nullopt : std::optional(axes->front()));
    });
  }

  /// False if the array was reached along another axis.
  bool meet(const Buffer& buffer, std::optional<size_t> axis) {
    return axes_.try_emplace(buffer, axis).first->second == axis;
  }

  std::optional<size_t> axis_of(const Buffer& buffer) const {
    const auto found = axes_.find(buffer);
    return found == axes_.end() ? std::nullopt : found->second;
  }

 private:
  std::map<Buffer, std::optional<size_t>> axes_;
};

}  // namespace

std::optional<AxisUse> axis_use(const Network& network, size_t node, size_t axis) {
  const Node& of = network.nodes[node];
  return of.outputs.size() == 1 ? axis_use(network, node, axis, of.outputs.front()) : std::nullopt;
}

std::optional<AxisUse> axis_use(const Network& network, size_t node, size_t axis, TensorIndex output) {
  const Node& of = network.nodes[node];
  if (!of.bodies.empty()) return std::nullopt;
  const NodeWorkload made = workload_of(network, {&node, 1});
  const Program& program = made.workload.program;
  const auto result = std::ranges::find(made.outputs, output) - made.outputs.begin();
  if (result == std::ssize(made.outputs)) return std::nullopt;
  const Buffer& array = program.outputs[static_cast<size_t>(result)];
  Tracing tracing;
  if (axis >= array->shape.size()) return std::nullopt;
  tracing.meet(array, axis);
  for (const Block* block : program.blocks() | std::views::reverse) {
    if (!tracing.trace(*block)) return std::nullopt;
  }
  AxisUse use;
  for (const TensorIndex input : of.inputs) {
    const auto found = std::ranges::find(made.inputs, input);
    use.push_back(found == made.inputs.end()
                      ? std::nullopt
                      : tracing.axis_of(program.inputs[static_cast<size_t>(found - made.inputs.begin())]));
  }
  return use;
}

}  // namespace tunesmith::network
