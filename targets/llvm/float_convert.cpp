#include "float_convert.h"

#include <cmath>

#include <llvm/IR/Intrinsics.h>

namespace tunesmith::llvm_target {

namespace {

llvm::Type* scalar_type(llvm::LLVMContext& context, DType type) {
  switch (type.code) {
    case TypeCode::Bool:
      return llvm::Type::getInt1Ty(context);
    case TypeCode::Int:
    case TypeCode::UInt:
    case TypeCode::Index:
      return llvm::Type::getIntNTy(context, type.bits);
    case TypeCode::BFloat:
      // As its bits: if the processor lacks the type, LLVM calls library functions to move it.
      return llvm::Type::getInt16Ty(context);
    case TypeCode::Float:
      break;
  }
  if (type.bits == 16) return llvm::Type::getHalfTy(context);
  return type.bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
}

llvm::Type* with_lanes(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

/// f32 to the bits of bf16.
llvm::Value* round_to_bfloat(llvm::IRBuilder<>& ir, llvm::Value* value, int lanes,
                             const CodegenTraits& traits) {
  llvm::Type* i16 = with_lanes(ir.getInt16Ty(), lanes);
  if (traits.bf16_convert) {
    return ir.CreateBitCast(
        ir.CreateFPTrunc(value, with_lanes(llvm::Type::getBFloatTy(ir.getContext()), lanes)), i16);
  }
  llvm::Type* i32 = with_lanes(ir.getInt32Ty(), lanes);
  const auto splat = [&](uint32_t bits) { return llvm::ConstantInt::get(i32, bits); };
  llvm::Value* bits = ir.CreateBitCast(value, i32);
  llvm::Value* odd = ir.CreateAnd(ir.CreateLShr(bits, splat(16)), splat(1));
  llvm::Value* rounded = ir.CreateAdd(ir.CreateAdd(bits, splat(0x7fff)), odd);
  llvm::Value* quiet_nan = ir.CreateOr(bits, splat(0x400000));
  llvm::Value* chosen = ir.CreateSelect(ir.CreateFCmpUNO(value, value), quiet_nan, rounded);
  return ir.CreateTrunc(ir.CreateLShr(chosen, splat(16)), i16);
}

llvm::Value* widen_bfloat(llvm::IRBuilder<>& ir, llvm::Value* bits, int lanes) {
  llvm::Type* i32 = with_lanes(ir.getInt32Ty(), lanes);
  llvm::Value* high = ir.CreateShl(ir.CreateZExt(bits, i32), llvm::ConstantInt::get(i32, 16));
  return ir.CreateBitCast(high, with_lanes(ir.getFloatTy(), lanes));
}

llvm::Value* convert_float(llvm::IRBuilder<>& ir, llvm::Value* value, DType from, DType to,
                           const CodegenTraits& traits) {
  if (from.code == TypeCode::BFloat) {
    value = widen_bfloat(ir, value, from.lanes);
    from = kF32.with_lanes(from.lanes);
  }
  // To the 16-bit types by way of f32, as the processor does.
  const DType direct = to.code == TypeCode::BFloat ? kF32.with_lanes(to.lanes) : to;
  llvm::Type* type = value_type(ir.getContext(), direct);
  if (direct.bits > from.bits) value = ir.CreateFPExt(value, type);
  if (direct.bits < from.bits) value = ir.CreateFPTrunc(value, type);
  return to.code == TypeCode::BFloat ? round_to_bfloat(ir, value, to.lanes, traits) : value;
}

/// To a type whose limits are exact as floats. LLVM's own conversions to 8 and 16 bits split vectors into
/// scalars. NaN becomes 0.
llvm::Value* saturate_by_limits(llvm::IRBuilder<>& ir, llvm::Value* value, DType to,
                                bool to_nearest = false) {
  const bool is_signed = to.is_signed_int();
  const auto number = [&](double of) { return llvm::ConstantFP::get(value->getType(), of); };
  const double range = std::ldexp(1.0, to.bits);
  if (is_signed) value = ir.CreateSelect(ir.CreateFCmpORD(value, value), value, number(0.0));
  const auto limited = [&](double least, double most) {
    // In the order of the processor's minimum and maximum, which give the second operand for NaN.
    value = ir.CreateSelect(ir.CreateFCmpOGT(value, number(least)), value, number(least));
    value = ir.CreateSelect(ir.CreateFCmpOLT(value, number(most)), value, number(most));
  };
  limited(is_signed ? -range / 2 : 0.0, is_signed ? range / 2 - 1 : range - 1);
  llvm::Type* i32 = value_type(ir.getContext(), kI32.with_lanes(to.lanes));
  value = to_nearest ? ir.CreateIntrinsic(llvm::Intrinsic::lrint, {i32, value->getType()}, {value})
                     : ir.CreateFPToSI(value, i32);
  return ir.CreateTrunc(value, value_type(ir.getContext(), to));
}

}  // namespace

llvm::Type* memory_type(llvm::LLVMContext& context, DType type) {
  if (type.is_bool()) return with_lanes(llvm::Type::getInt8Ty(context), type.lanes);
  return value_type(context, type);
}

llvm::Type* value_type(llvm::LLVMContext& context, DType type) {
  return with_lanes(scalar_type(context, type), type.lanes);
}

DType arithmetic_type(DType type, const CodegenTraits& traits) {
  if (!type.is_float() || type.bits != 16) return type;
  if (type.code == TypeCode::Float && traits.f16_arithmetic) return type;
  return kF32.with_lanes(type.lanes);
}

llvm::Value* convert(llvm::IRBuilder<>& ir, llvm::Value* value, DType from, DType to,
                     const CodegenTraits& traits) {
  if (from == to) return value;
  llvm::Type* type = value_type(ir.getContext(), to);
  const bool from_signed = from.is_signed_int();
  if (from.is_float()) {
    if (to.is_float()) return convert_float(ir, value, from, to, traits);
    // To small integers by way of f32 also where f16 is computed natively: there LLVM 19 makes NaN the least
    // i16.
    const bool by_f32 = from.bits == 16 && to.bits <= 16;
    const DType wide = by_f32 ? kF32.with_lanes(from.lanes) : arithmetic_type(from, traits);
    value = convert(ir, value, from, wide, traits);
    if (to.is_bool()) return ir.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
    if (to.bits <= 16) return saturate_by_limits(ir, value, to);
    const auto saturating = to.is_signed_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return ir.CreateIntrinsic(saturating, {type, value->getType()}, {value});
  }
  if (to.is_bool()) return ir.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  if (!to.is_float()) return ir.CreateIntCast(value, type, from_signed);
  const DType direct =
      arithmetic_type(to, traits).bits == 16 ? kF32.with_lanes(to.lanes) : arithmetic_type(to, traits);
  llvm::Type* direct_type = value_type(ir.getContext(), direct);
  value = from_signed ? ir.CreateSIToFP(value, direct_type) : ir.CreateUIToFP(value, direct_type);
  return convert(ir, value, direct, to, traits);
}

llvm::Value* convert_rounded(llvm::IRBuilder<>& ir, llvm::Value* value, DType to) {
  return saturate_by_limits(ir, value, to, /*to_nearest=*/true);
}

}  // namespace tunesmith::llvm_target
