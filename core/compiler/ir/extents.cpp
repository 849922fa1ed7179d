#include "tunesmith/ir/extents.h"

#include <algorithm>
#include <utility>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr int64_t kTypicalSteps[] = {1, 4, 16};

const Expr& uncast(const Expr& expr) { return expr.is(ExprKind::Cast) ? expr.arg(0) : expr; }

/// Is the index clamped to the last one by a minimum, as loaded indices are?
bool is_clamped(const Expr& index, const Expr& extent) {
  const Expr& least = uncast(index);
  if (!least.is(ExprKind::Min)) return false;
  return std::ranges::any_of(least.args(), [&](const Expr& arg) { return equal(uncast(arg), extent - 1); });
}

void add_part(std::vector<Expr>& parts, const Expr& index, const Expr& extent) {
  const Expr part = lt(index, extent);
  if (is_const_int(part, 1) || is_clamped(index, extent)) return;
  if (std::ranges::none_of(parts, [&](const Expr& known) { return equal(known, part); }))
    parts.push_back(part);
}

void add_access(std::vector<Expr>& parts, const BufferNode& buffer, std::span<const Expr> indices) {
  for (size_t d = 0; d < buffer.extents.size(); ++d) {
    if (buffer.extents[d]) add_part(parts, indices[d], buffer.extents[d]);
  }
}

void add_loads(std::vector<Expr>& parts, const Expr& expr) {
  const LoadNode* node = expr.as<LoadNode>();
  if (node != nullptr && !node->mask()) add_access(parts, *node->buffer, node->indices());
  if (expr.is(ExprKind::Select)) return add_loads(parts, expr.arg(0));
  for (const Expr& arg : expr.args()) add_loads(parts, arg);
}

std::vector<int64_t> typical_of(const ExtentParameter& parameter) {
  std::vector<int64_t> values(parameter.typical.rbegin(), parameter.typical.rend());
  if (!values.empty()) return values;
  for (const int64_t step : kTypicalSteps)
    values.push_back(std::max(parameter.var->lowest, parameter.var->highest / step));
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

}  // namespace

bool uses_parameter(const Expr& expr) {
  return any_of_expr(expr, [](const Expr& part) {
    const VarNode* var = part.as<VarNode>();
    return var != nullptr && var->is_parameter();
  });
}

Expr existence(const Store& store) {
  std::vector<Expr> parts;
  add_access(parts, *store.buffer, store.indices);
  for (const Expr& index : store.indices) add_loads(parts, index);
  add_loads(parts, store.value);
  Expr all = bool_imm(true);
  for (const Expr& part : parts) all = logical_and(all, part);
  return all;
}

Buffer varying_buffer(const Stmt& stmt) {
  Buffer found;
  walk_accesses(stmt, [&](const Stmt&, const AccessSite& access) {
    if (!found && !access.buffer->extents.empty()) found = access.buffer;
  });
  return found;
}

bool reduces_varying(const Block& block) {
  if (!block.has_reduction()) return false;
  std::vector<Var> reduced;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Reduction) reduced.push_back(iter.var);
  }
  return find_first<Store>(block, [&](const Store& store) { return uses_any(existence(store), reduced); });
}

bool reduces_varying(const Program& program) {
  return std::ranges::any_of(program.blocks(), [](const Block* block) { return reduces_varying(*block); });
}

bool stride_varies(const BufferNode& buffer, size_t dimension) {
  if (!buffer.strides.empty() || buffer.extents.empty() || buffer.shape[dimension] == 1) return false;
  return std::any_of(buffer.extents.begin() + static_cast<std::ptrdiff_t>(dimension) + 1,
                     buffer.extents.end(), [](const Expr& extent) { return static_cast<bool>(extent); });
}

bool is_packed(const Program& program, const Buffer& buffer) {
  bool varies = false;
  for (size_t d = 0; d < buffer->shape.size(); ++d) varies = varies || stride_varies(*buffer, d);
  return varies && (contains(program.inputs, buffer) || contains(program.outputs, buffer));
}

std::vector<int64_t> extents_at(const BufferNode& buffer, const Program& program,
                                std::span<const int64_t> values) {
  std::vector<int64_t> extents = buffer.shape;
  if (buffer.extents.empty()) return extents;
  check_invariant(values.size() == program.parameters.size(), "one value for each parameter");
  Substitution at;
  for (size_t i = 0; i < values.size(); ++i) at.set(program.parameters[i].var, values[i]);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!buffer.extents[d]) continue;
    check_invariant(as_const_int(substitute(buffer.extents[d], at), &extents[d]),
                    "an extent depends on parameters alone");
  }
  return extents;
}

std::vector<int64_t> highest_values(const Program& program) {
  std::vector<int64_t> values;
  for (const ExtentParameter& parameter : program.parameters) values.push_back(parameter.var->highest);
  return values;
}

std::vector<std::vector<int64_t>> typical_values(const Program& program) {
  std::vector<std::vector<int64_t>> typical;
  size_t most = 1;
  for (const ExtentParameter& parameter : program.parameters) {
    typical.push_back(typical_of(parameter));
    most = std::max(most, typical.back().size());
  }
  std::vector<std::vector<int64_t>> values;
  for (size_t i = 0; i < most; ++i) {
    std::vector<int64_t> together;
    for (const std::vector<int64_t>& one : typical) together.push_back(one[std::min(i, one.size() - 1)]);
    values.push_back(std::move(together));
  }
  return values;
}

}  // namespace tunesmith
