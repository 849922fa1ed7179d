#include "mutate_ranges.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

using RewriteExpr = std::function<Expr(const Expr&)>;

bool is_input(const Program& program, const Expr& part) {
  const LoadNode* access = part.as<LoadNode>();
  return access != nullptr && std::ranges::find(program.inputs, access->buffer) != program.inputs.end();
}

bool is_data_int(DType type) { return type.is_int() && !type.is_index(); }

Expr clamped(const Expr& value, double highest) {
  const DType type = value.dtype();
  // A limit that no value of the type exceeds is no clamp.
  if (type.is_bool() || (type.bits == 8 && highest > 100.0) || (type.scalar() == kF16 && highest > 6e4))
    return {};
  return min(value, constant(highest, type));
}

/// The lower half of the value's bits, sign-extended.
Expr low_half(const Expr& value) {
  const DType type = value.dtype();
  const int64_t half = int64_t{1} << (type.bits / 2 - 1);
  return floormod(value + int_imm(half, type), int_imm(2 * half, type)) - int_imm(half, type);
}

Expr low_half_product(const Expr& part) {
  if (!part.is(ExprKind::Mul) || !is_data_int(part.dtype()) || part.dtype().bits < 32) return {};
  return low_half(part.arg(0)) * low_half(part.arg(1));
}

Expr saturated(const Expr& part) {
  if (!part.is(ExprKind::Add) || part.dtype() != kI32) return {};
  const auto end = [](int64_t value) { return int_imm(value, kI64); };
  const Expr sum = cast(kI64, part.arg(0)) + cast(kI64, part.arg(1));
  const Expr above = max(sum, end(std::numeric_limits<int32_t>::min()));
  return cast(kI32, min(above, end(std::numeric_limits<int32_t>::max())));
}

Expr without_sign(const Expr& value) {
  const DType type = value.dtype();
  if (type.is_float()) return call(MathOp::Abs, {value});
  return type.code == TypeCode::Int ? max(value, constant(0.0, type) - value) : Expr();
}

Expr converted_without_ends(const Expr& part) {
  const bool truncates = part.is(ExprKind::Cast) && is_data_int(part.dtype()) && part.dtype().bits < 64 &&
                         part.arg(0).dtype().is_float();
  return truncates ? cast(part.dtype(), cast(kI64, part.arg(0))) : Expr();
}

std::optional<double> smallest_normal(DType type) {
  if (type == kF64) return std::numeric_limits<double>::min();
  if (type == kF32) return std::numeric_limits<float>::min();
  if (type == kF16) return 0x1p-14;
  return std::nullopt;  // targets may flush denormals of bf16
}

Expr without_denormals(const Expr& value) {
  const DType type = value.dtype();
  const auto normal = smallest_normal(type);
  if (!normal) return {};
  return select(lt(call(MathOp::Abs, {value}), float_imm(*normal, type)), float_imm(0.0, type), value);
}

RewriteExpr rewrite_of(const Program& program, Mutation mutation) {
  const auto of_inputs = [&program](const RewriteExpr& rewrite) -> RewriteExpr {
    return [&program, rewrite](const Expr& part) { return is_input(program, part) ? rewrite(part) : Expr(); };
  };
  switch (mutation) {
    case Mutation::LowHalfProduct:
      return low_half_product;
    case Mutation::Saturates:
      return saturated;
    case Mutation::SignLost:
      return of_inputs(without_sign);
    case Mutation::ConversionWraps:
      return converted_without_ends;
    case Mutation::DenormalsFlushed:
      return of_inputs(without_denormals);
    case Mutation::ExtremeSwapped:
      return [](const Expr& part) {
        const bool is_extreme = part.is(ExprKind::Max) || part.is(ExprKind::Min);
        return is_extreme && part.dtype().is_float() ? binary(part.kind(), part.arg(1), part.arg(0)) : Expr();
      };
    default:
      return {};
  }
}

}  // namespace

void collect_range_mistakes(const Program& program, Store& store, Mutation mutation,
                            std::vector<std::function<void()>>& changes) {
  if (mutation == Mutation::Clamped) {
    if (std::ranges::find(program.outputs, store.buffer) == program.outputs.end()) return;
    for (const double highest : {6.0, 100.0, 65504.0}) {
      if (const Expr value = clamped(store.value, highest))
        changes.emplace_back([&store, value] { store.value = value; });
    }
    return;
  }
  const RewriteExpr rewrite = rewrite_of(program, mutation);
  if (!rewrite) return;
  walk_expr(store.value, [&](const Expr& part) {
    const Expr other = rewrite(part);
    if (!other || equal(other, part)) return;
    changes.emplace_back([&store, part, other] {
      store.value =
          rewrite_expr(store.value, [&](const Expr& node) { return equal(node, part) ? other : node; });
    });
  });
}

}  // namespace tunesmith
