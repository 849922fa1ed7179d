#include <limits>

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>

#include "emit_error.h"
#include "float_convert.h"
#include "function_emitter.h"
#include "math_functions.h"

namespace tunesmith::llvm_target {

llvm::Value* FunctionEmitter::splat(llvm::Value* scalar, int lanes) {
  return lanes == 1 ? scalar : ir_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

llvm::Value* FunctionEmitter::value(const Expr& expr) {
  if (expr.args().empty()) return emit_value(expr);
  const auto found = statement_values_.find(expr.get());
  if (found != statement_values_.end()) return found->second;
  llvm::Value* result = emit_value(expr);
  statement_values_[expr.get()] = result;
  return result;
}

llvm::Value* FunctionEmitter::constant_value(const Expr& expr) {
  llvm::Type* type = value_type(ir_.getContext(), expr.dtype());
  if (const auto* integer = expr.as<IntImm>()) {
    return llvm::ConstantInt::get(type, static_cast<uint64_t>(integer->value), /*IsSigned=*/true);
  }
  llvm::APFloat number(expr.as<FloatImm>()->value);
  bool inexact = false;
  const bool is_bfloat = expr.dtype().code == TypeCode::BFloat;
  const llvm::fltSemantics& semantics =
      is_bfloat ? llvm::APFloat::BFloat() : type->getScalarType()->getFltSemantics();
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  if (is_bfloat) return llvm::ConstantInt::get(type, number.bitcastToAPInt());
  return llvm::ConstantFP::get(type, number);
}

llvm::Value* FunctionEmitter::emit_value(const Expr& expr) {
  const DType type = expr.dtype();
  switch (expr.kind()) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
      return constant_value(expr);
    case ExprKind::Var:
      return index_value(expr);
    case ExprKind::Not:
      return ir_.CreateNot(value(expr.arg(0)));
    case ExprKind::Select:
      return select_value(expr);
    case ExprKind::Cast:
      return cast_value(expr);
    case ExprKind::Call:
      return call_value(expr);
    case ExprKind::Load:
      return load_value(*expr.as<LoadNode>());
    case ExprKind::Broadcast:
      return splat(value(expr.arg(0)), type.lanes);
    case ExprKind::Ramp:
      return index_value(expr);
    default:
      return binary_value(expr);
  }
}

llvm::Value* FunctionEmitter::cast_value(const Expr& expr) {
  const Expr& of = expr.arg(0);
  const DType from = of.dtype(), to = expr.dtype();
  const auto* call = of.as<CallNode>();
  const bool is_rounded = call != nullptr && call->op == MathOp::RoundEven;
  if (is_rounded && from.bits == 32 && to.is_int() && to.bits <= 16)
    return convert_rounded(ir_, value(of.arg(0)), to);
  return convert(ir_, value(of), from, to, state_.traits);
}

llvm::Value* FunctionEmitter::select_value(const Expr& expr) {
  const Expr& condition = expr.arg(0);
  llvm::Value* otherwise = value(expr.arg(2));
  const auto* zero = llvm::dyn_cast<llvm::Constant>(otherwise);
  // Padding: elements excluded by a mask already read as zeros.
  const auto* load = expr.arg(1).as<LoadNode>();
  const bool read_as_zero = zero != nullptr && zero->isNullValue() && load != nullptr && load->mask() &&
                            equal(load->mask(), condition);
  return read_as_zero ? value(expr.arg(1))
                      : ir_.CreateSelect(value(condition), value(expr.arg(1)), otherwise);
}

llvm::Value* FunctionEmitter::index_value(const Expr& expr) {
  if (expr.dtype().lanes == 1) return values_.value(linear(expr));
  if (const auto index = lane_index(expr)) return lanes_value(*index);
  if (expr.is(ExprKind::Ramp)) {
    llvm::SmallVector<llvm::Constant*, 16> steps;
    for (int i = 0; i < expr.dtype().lanes; ++i) steps.push_back(ir_.getInt64(static_cast<uint64_t>(i)));
    llvm::Value* offsets =
        ir_.CreateNSWMul(splat(value(expr.arg(1)), expr.dtype().lanes), llvm::ConstantVector::get(steps));
    return ir_.CreateNSWAdd(splat(value(expr.arg(0)), expr.dtype().lanes), offsets);
  }
  return int_binary(expr.kind(), value(expr.arg(0)), value(expr.arg(1)), true);
}

/// Is it handled by linear() and not computed as a value?
bool FunctionEmitter::is_index_arithmetic(const Expr& expr) {
  if (expr.is(ExprKind::Div)) return false;
  if (!expr.is(ExprKind::FloorDiv) && !expr.is(ExprKind::FloorMod)) return true;
  if (expr.dtype().lanes > 1) return true;
  const Linear divisor = linear(expr.arg(1));
  return divisor.is_constant() && divisor.constant > 0;
}

llvm::Value* FunctionEmitter::binary_value(const Expr& expr) {
  const ExprKind kind = expr.kind();
  const DType type = expr.arg(0).dtype();
  if (kind == ExprKind::And) return ir_.CreateAnd(value(expr.arg(0)), value(expr.arg(1)));
  if (kind == ExprKind::Or) return ir_.CreateOr(value(expr.arg(0)), value(expr.arg(1)));
  if (expr.dtype().is_bool()) {
    return type.is_index() ? compare_index(expr)
                           : compare(kind, value(expr.arg(0)), value(expr.arg(1)), type);
  }
  if (type.is_index() && is_index_arithmetic(expr)) return index_value(expr);
  if (!type.is_float()) {
    return int_binary(kind, value(expr.arg(0)), value(expr.arg(1)), type.is_signed_int());
  }
  if (llvm::Value* fused = fused_multiply_add(expr)) return fused;
  const DType wide = arithmetic_type(type, state_.traits);
  llvm::Value* a = convert(ir_, value(expr.arg(0)), type, wide, state_.traits);
  if (kind == ExprKind::Div && expr.arg(1).is(ExprKind::Broadcast) && state_.traits.reciprocal) {
    const Expr& shared = expr.arg(1).arg(0);
    llvm::Value* divisor = convert(ir_, value(shared), shared.dtype(), wide.scalar(), state_.traits);
    llvm::Value* reciprocal = ir_.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1.0), divisor);
    return convert(ir_, ir_.CreateFMul(a, splat(reciprocal, type.lanes)), wide, type, state_.traits);
  }
  llvm::Value* b = convert(ir_, value(expr.arg(1)), type, wide, state_.traits);
  return convert(ir_, float_binary(kind, a, b), wide, type, state_.traits);
}

llvm::Value* FunctionEmitter::float_binary(ExprKind kind, llvm::Value* a, llvm::Value* b) {
  switch (kind) {
    case ExprKind::Add:
      return ir_.CreateFAdd(a, b);
    case ExprKind::Sub:
      return ir_.CreateFSub(a, b);
    case ExprKind::Mul:
      return ir_.CreateFMul(a, b);
    case ExprKind::Div:
      return ir_.CreateFDiv(a, b);
    case ExprKind::Min:
      return ir_.CreateSelect(ir_.CreateFCmpOLT(a, b), a, b);
    case ExprKind::Max:
      return ir_.CreateSelect(ir_.CreateFCmpOGT(a, b), a, b);
    default:
      throw EmitError("an integer operator on floats");
  }
}

llvm::Value* FunctionEmitter::fused_multiply_add(const Expr& expr) {
  if (!state_.traits.contract || !state_.traits.fma) return nullptr;
  if (!expr.is(ExprKind::Add) && !expr.is(ExprKind::Sub)) return nullptr;
  const bool subtract = expr.is(ExprKind::Sub);
  const bool left = expr.arg(0).is(ExprKind::Mul);
  if (!left && !expr.arg(1).is(ExprKind::Mul)) return nullptr;
  const DType type = expr.dtype();
  const DType wide = arithmetic_type(type, state_.traits);
  const auto operand = [&](const Expr& e) { return convert(ir_, value(e), type, wide, state_.traits); };
  const Expr& product = expr.arg(left ? 0 : 1);
  llvm::Value* a = operand(product.arg(0));
  llvm::Value* b = operand(product.arg(1));
  llvm::Value* c = operand(expr.arg(left ? 1 : 0));
  if (subtract && left) c = ir_.CreateFNeg(c);
  if (subtract && !left) a = ir_.CreateFNeg(a);
  llvm::Value* result = ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return convert(ir_, result, wide, type, state_.traits);
}

llvm::Value* FunctionEmitter::int_binary(ExprKind kind, llvm::Value* a, llvm::Value* b, bool is_signed) {
  // A division by zero has no defined value but must not trap: both sides of a Select are computed. Nor may
  // the division of the least number by -1, which wraps around: quotients by -1 are computed as negations.
  llvm::Value* minus_one = llvm::Constant::getAllOnesValue(b->getType());
  const auto divisor = [&] {
    llvm::Value* one = llvm::ConstantInt::get(b->getType(), 1);
    llvm::Value* bad = ir_.CreateICmpEQ(b, llvm::Constant::getNullValue(b->getType()));
    if (is_signed) bad = ir_.CreateOr(bad, ir_.CreateICmpEQ(b, minus_one));
    return ir_.CreateSelect(bad, one, b);
  };
  const auto unless_negated = [&](llvm::Value* quotient) {
    llvm::Value* negated = ir_.CreateICmpEQ(b, minus_one);
    const auto* known = llvm::dyn_cast<llvm::Constant>(negated);
    if (known != nullptr && known->isNullValue()) return quotient;
    return ir_.CreateSelect(negated, ir_.CreateNeg(a), quotient);
  };
  // The remainder's sign: all ones if it is nonzero and differs from the divisor's.
  const auto correction = [&](llvm::Value* remainder, llvm::Value* d) {
    llvm::Value* zero = llvm::Constant::getNullValue(remainder->getType());
    llvm::Value* differs = ir_.CreateICmpSLT(ir_.CreateXor(remainder, d), zero);
    return ir_.CreateAnd(differs, ir_.CreateICmpNE(remainder, zero));
  };
  switch (kind) {
    case ExprKind::Add:
      return ir_.CreateAdd(a, b);
    case ExprKind::Sub:
      return ir_.CreateSub(a, b);
    case ExprKind::Mul:
      return ir_.CreateMul(a, b);
    case ExprKind::Div:
      return is_signed ? unless_negated(ir_.CreateSDiv(a, divisor())) : ir_.CreateUDiv(a, divisor());
    case ExprKind::FloorDiv: {
      llvm::Value* d = divisor();
      if (!is_signed) return ir_.CreateUDiv(a, d);
      llvm::Value* quotient = ir_.CreateSDiv(a, d);
      llvm::Value* remainder = ir_.CreateSub(a, ir_.CreateMul(quotient, d));
      return unless_negated(ir_.CreateAdd(quotient, ir_.CreateSExt(correction(remainder, d), a->getType())));
    }
    case ExprKind::FloorMod: {
      llvm::Value* d = divisor();
      if (!is_signed) return ir_.CreateURem(a, d);
      llvm::Value* remainder = ir_.CreateSRem(a, d);
      llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
      return ir_.CreateAdd(remainder, ir_.CreateSelect(correction(remainder, d), d, zero));
    }
    case ExprKind::Min:
      return ir_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case ExprKind::Max:
      return ir_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    default:
      throw EmitError("an operator without a meaning on integers");
  }
}

llvm::Value* FunctionEmitter::compare(ExprKind kind, llvm::Value* a, llvm::Value* b, DType type) {
  if (type.is_float()) {
    const DType wide = arithmetic_type(type, state_.traits);
    a = convert(ir_, a, type, wide, state_.traits);
    b = convert(ir_, b, type, wide, state_.traits);
    switch (kind) {
      case ExprKind::Eq:
        return ir_.CreateFCmpOEQ(a, b);
      case ExprKind::Ne:
        return ir_.CreateFCmpUNE(a, b);
      case ExprKind::Lt:
        return ir_.CreateFCmpOLT(a, b);
      default:
        return ir_.CreateFCmpOLE(a, b);
    }
  }
  const bool is_signed = type.is_signed_int();
  switch (kind) {
    case ExprKind::Eq:
      return ir_.CreateICmpEQ(a, b);
    case ExprKind::Ne:
      return ir_.CreateICmpNE(a, b);
    case ExprKind::Lt:
      return is_signed ? ir_.CreateICmpSLT(a, b) : ir_.CreateICmpULT(a, b);
    default:
      return is_signed ? ir_.CreateICmpSLE(a, b) : ir_.CreateICmpULE(a, b);
  }
}

/// Compares indices by comparing a scalar with the lanes' constants, or without any instruction.
llvm::Value* FunctionEmitter::compare_index(const Expr& expr) {
  const auto a = lane_index(expr.arg(0));
  const auto b = a ? lane_index(expr.arg(1)) : std::nullopt;
  if (!b) return compare(expr.kind(), value(expr.arg(0)), value(expr.arg(1)), expr.arg(0).dtype());
  // a[i] ? b[i]  as  base ? lanes[i]
  const Linear base = add_scaled(a->base, b->base, -1);
  const Interval range = values_.range(base);
  llvm::SmallVector<int64_t, 16> lanes;
  int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < a->lanes.size(); ++i) {
    lanes.push_back(b->lanes[i] - a->lanes[i]);
    low = std::min(low, lanes.back());
    high = std::max(high, lanes.back());
  }
  const int count = expr.dtype().lanes;
  const auto all = [&](bool result) { return splat(ir_.getInt1(result), count); };
  const bool below = range.max<low, above = range.min> high;
  switch (expr.kind()) {
    case ExprKind::Eq:
    case ExprKind::Ne:
      if (below || above) return all(expr.is(ExprKind::Ne));
      break;
    case ExprKind::Lt:
      if (below) return all(true);
      if (range.min >= high) return all(false);
      break;
    default:
      if (range.max <= low) return all(true);
      if (above) return all(false);
      break;
  }
  if (count == 1) {
    return compare(expr.kind(), values_.value(base), ir_.getInt64(static_cast<uint64_t>(lanes[0])), kIndex);
  }
  // 32-bit lanes suffice if the scalar is first clamped to the lanes' range, which preserves every result.
  constexpr int64_t kLimit = int64_t{1} << 30;
  const bool narrow = low > -kLimit && high < kLimit;
  Linear clamped = base;
  if (narrow && (range.min < -kLimit || range.max > kLimit)) {
    clamped = values_.minimum(values_.maximum(base, Linear(low - 1)), Linear(high + 1));
  }
  llvm::Type* element = narrow ? ir_.getInt32Ty() : ir_.getInt64Ty();
  llvm::SmallVector<llvm::Constant*, 16> constants;
  for (const int64_t lane : lanes)
    constants.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(lane), true));
  llvm::Value* scalar = ir_.CreateTrunc(values_.value(clamped), element);
  return compare(expr.kind(), splat(scalar, count), llvm::ConstantVector::get(constants), kIndex);
}

llvm::Value* FunctionEmitter::bits_value(MathOp op, llvm::Value* a, llvm::Value* b, DType type) {
  switch (op) {
    case MathOp::BitAnd:
      return ir_.CreateAnd(a, b);
    case MathOp::BitOr:
      return ir_.CreateOr(a, b);
    case MathOp::BitXor:
      return ir_.CreateXor(a, b);
    default:
      break;
  }
  // A shift by the width or more is poison in LLVM.
  llvm::Value* last = llvm::ConstantInt::get(b->getType(), static_cast<uint64_t>(type.bits - 1));
  if (op == MathOp::ShiftRight && type.is_signed_int())
    return ir_.CreateAShr(a, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, last));
  llvm::Value* inside = ir_.CreateICmpULE(b, last);
  llvm::Value* by = ir_.CreateSelect(inside, b, last);
  llvm::Value* shifted = op == MathOp::ShiftLeft ? ir_.CreateShl(a, by) : ir_.CreateLShr(a, by);
  return ir_.CreateSelect(inside, shifted, llvm::Constant::getNullValue(a->getType()));
}

llvm::Value* FunctionEmitter::call_value(const Expr& expr) {
  const DType type = expr.dtype();
  const MathOp op = expr.as<CallNode>()->op;
  if (is_bit_op(op)) return bits_value(op, value(expr.arg(0)), value(expr.arg(1)), type);
  if (!type.is_float()) {
    if (type.code == TypeCode::UInt) return value(expr.arg(0));
    return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value(expr.arg(0)), ir_.getFalse());
  }
  // Functions are computed in f32 or f64, and rounded once.
  const DType wide = type.bits == 16 ? kF32.with_lanes(type.lanes) : type;
  llvm::SmallVector<llvm::Value*, 2> operands;
  for (const Expr& arg : expr.args()) operands.push_back(convert(ir_, value(arg), type, wide, state_.traits));
  llvm::Value* result = MathFunctions(ir_, state_.traits).emit(op, operands);
  return convert(ir_, result, wide, type, state_.traits);
}

}  // namespace tunesmith::llvm_target
