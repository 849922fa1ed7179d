#include "tunesmith/performance/computed_type.h"

#include <utility>

#include "tunesmith/ir/stmt.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/flops.h"

namespace tunesmith {
namespace {

/// The statement with the most operations, and their number.
std::pair<const Store*, double> heaviest_store(const Stmt& stmt) {
  if (const auto* store = stmt.as<Store>()) return {store, count_flops(stmt)};
  std::pair<const Store*, double> most{nullptr, 0.0};
  const auto take = [&](const Stmt& child) {
    const auto found = heaviest_store(child);
    if (most.first == nullptr || found.second > most.second) most = found;
  };
  // An initialisation is of another order than the sum that it begins.
  if (const auto* block = stmt.as<Block>(); block != nullptr && block->body() != nullptr)
    take(*block->body());
  else
    visit_children(stmt, take);
  if (const auto* loop = stmt.as<Loop>()) most.second *= static_cast<double>(loop->const_extent());
  return most;
}

/// The type before widening, which units do themselves; zero points can be subtracted
/// from the sum. An integer converted to a float is multiplied as a float.
DType factor_type(const Expr& factor) {
  if (factor.is(ExprKind::Cast)) {
    const DType from = factor.arg(0).dtype();
    if (from.is_float() == factor.dtype().is_float() && !from.is_bool()) return factor_type(factor.arg(0));
  }
  const bool chosen = factor.is(ExprKind::Select);
  const bool offset = factor.is(ExprKind::Sub) || factor.is(ExprKind::Add);
  if (!chosen && (!offset || factor.dtype().is_float())) return factor.dtype().scalar();
  const DType one = factor_type(factor.arg(chosen ? 1 : 0));
  const DType other = factor_type(factor.arg(chosen ? 2 : 1));
  return other.bits < one.bits ? other : one;
}

/// Does `value` add something to a value of `buffer`?
bool sums_into(const Expr& value, const Buffer& buffer) {
  return value.is(ExprKind::Add) && any_of_expr(value, [&](const Expr& part) {
           return part.is(ExprKind::Load) && part.as<LoadNode>()->buffer == buffer;
         });
}

}  // namespace

DType computed_type(const Program& program) {
  const Store* const store = heaviest_store(program.root()).first;
  if (store == nullptr) return program.outputs.front()->dtype;
  const DType type = store->value.dtype().scalar();
  if (!sums_into(store->value, store->buffer)) return type;
  DType widest = type;
  bool found = false;
  walk_expr(store->value, [&](const Expr& part) {
    if (!part.is(ExprKind::Mul) || part.dtype().is_index()) return;
    for (const Expr& factor : part.args()) {
      const DType its = factor_type(factor);
      if (!found || its.bits > widest.bits) widest = its;
      found = true;
    }
  });
  return widest;
}

std::string_view operations_unit(DType type) { return type.is_float() ? "GFLOP/s" : "GOP/s"; }

}  // namespace tunesmith
