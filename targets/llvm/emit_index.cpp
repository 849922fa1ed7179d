#include "function_emitter.h"
#include "tunesmith/support/error.h"

namespace tunesmith::llvm_target {

namespace {

/// Every lane the same constant.
std::optional<int64_t> uniform_constant(const LaneIndex& index) {
  if (!index.base.is_constant()) return std::nullopt;
  for (const int64_t lane : index.lanes) {
    if (lane != index.lanes.front()) return std::nullopt;
  }
  return index.base.constant + index.lanes.front();
}

template <typename Combine>
LaneIndex combine_constants(const LaneIndex& a, const LaneIndex& b, Combine combine) {
  LaneIndex result;
  for (size_t i = 0; i < a.lanes.size(); ++i) {
    result.lanes.push_back(combine(a.base.constant + a.lanes[i], b.base.constant + b.lanes[i]));
  }
  return result;
}

LaneIndex multiply(const LaneIndex& a, int64_t factor) {
  LaneIndex result{scaled(a.base, factor), {}};
  for (const int64_t lane : a.lanes) result.lanes.push_back(lane * factor);
  return result;
}

/// Divides base + lanes lane by lane, if the result has this form again.
std::optional<LaneIndex> divide(const LaneIndex& a, int64_t divisor, bool remainder) {
  LaneIndex result;
  for (const Linear::Term& term : a.base.terms) {
    if (term.coefficient % divisor != 0) return std::nullopt;
    if (!remainder) result.base.terms.push_back({term.coefficient / divisor, term.atom});
  }
  for (const int64_t lane : a.lanes) {
    const int64_t rest = a.base.constant + lane;
    result.lanes.push_back(remainder ? floor_remainder(rest, divisor) : floor_quotient(rest, divisor));
  }
  return result;
}

/// For a sum, product, quotient, minimum or maximum; nothing if the result is no such index.
std::optional<LaneIndex> combined_lanes(ExprKind kind, const LaneIndex& a, const LaneIndex& b) {
  const bool both_constant = a.base.is_constant() && b.base.is_constant();
  switch (kind) {
    case ExprKind::Add:
    case ExprKind::Sub: {
      const int64_t sign = kind == ExprKind::Add ? 1 : -1;
      LaneIndex result{add_scaled(a.base, b.base, sign), {}};
      for (size_t i = 0; i < a.lanes.size(); ++i) result.lanes.push_back(a.lanes[i] + sign * b.lanes[i]);
      return result;
    }
    case ExprKind::Mul:
      if (const auto factor = uniform_constant(b)) return multiply(a, *factor);
      if (const auto factor = uniform_constant(a)) return multiply(b, *factor);
      if (both_constant) return combine_constants(a, b, [](int64_t x, int64_t y) { return x * y; });
      return std::nullopt;
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
      const auto divisor = uniform_constant(b);
      if (!divisor || *divisor <= 0) return std::nullopt;
      return divide(a, *divisor, kind == ExprKind::FloorMod);
    }
    case ExprKind::Min:
      if (both_constant) return combine_constants(a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
      return std::nullopt;
    case ExprKind::Max:
      if (both_constant) return combine_constants(a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Linear FunctionEmitter::linear(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return Linear(expr.as<IntImm>()->value);
    case ExprKind::Var: {
      const auto found = vars_.find(static_cast<const VarNode*>(expr.get()));
      check_invariant(found != vars_.end(), "a variable is used inside its loop");
      return found->second;
    }
    case ExprKind::Add:
      return add_scaled(linear(expr.arg(0)), linear(expr.arg(1)), 1);
    case ExprKind::Sub:
      return add_scaled(linear(expr.arg(0)), linear(expr.arg(1)), -1);
    case ExprKind::Mul: {
      const Linear a = linear(expr.arg(0)), b = linear(expr.arg(1));
      if (b.is_constant()) return scaled(a, b.constant);
      if (a.is_constant()) return scaled(b, a.constant);
      return values_.multiply(a, b);
    }
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
      const Linear a = linear(expr.arg(0)), b = linear(expr.arg(1));
      if (!b.is_constant() || b.constant <= 0) break;
      return expr.is(ExprKind::FloorDiv) ? values_.floor_div(a, b.constant)
                                         : values_.floor_mod(a, b.constant);
    }
    case ExprKind::Min:
      return values_.minimum(linear(expr.arg(0)), linear(expr.arg(1)));
    case ExprKind::Max:
      return values_.maximum(linear(expr.arg(0)), linear(expr.arg(1)));
    case ExprKind::Select: {
      auto* condition = llvm::dyn_cast<llvm::ConstantInt>(value(expr.arg(0)));
      if (condition != nullptr) return linear(expr.arg(condition->isOne() ? 1 : 2));
      break;
    }
    default:
      break;
  }
  return values_.local_atom(value(expr));
}

std::optional<LaneIndex> FunctionEmitter::lane_index(const Expr& expr) {
  const auto lanes = static_cast<size_t>(expr.dtype().lanes);
  if (lanes == 1) return LaneIndex{linear(expr), {0}};
  switch (expr.kind()) {
    case ExprKind::Broadcast: {
      LaneIndex result{linear(expr.arg(0)), {}};
      result.lanes.assign(lanes, 0);
      return result;
    }
    case ExprKind::Ramp: {
      const Linear stride = linear(expr.arg(1));
      if (!stride.is_constant()) return std::nullopt;
      LaneIndex result{linear(expr.arg(0)), {}};
      for (size_t i = 0; i < lanes; ++i) result.lanes.push_back(static_cast<int64_t>(i) * stride.constant);
      return result;
    }
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max:
      break;
    default:
      return std::nullopt;
  }
  const auto a = lane_index(expr.arg(0));
  const auto b = a ? lane_index(expr.arg(1)) : std::nullopt;
  return b ? combined_lanes(expr.kind(), *a, *b) : std::nullopt;
}

llvm::Value* FunctionEmitter::lanes_value(const LaneIndex& index) {
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  bool any = false;
  for (const int64_t lane : index.lanes) {
    offsets.push_back(ir_.getInt64(static_cast<uint64_t>(lane)));
    any = any || lane != 0;
  }
  llvm::Value* base = splat(values_.value(index.base), static_cast<int>(index.lanes.size()));
  return any ? ir_.CreateNSWAdd(base, llvm::ConstantVector::get(offsets)) : base;
}

}  // namespace tunesmith::llvm_target
