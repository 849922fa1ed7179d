#include <array>
#include <limits>

#include <llvm/IR/Intrinsics.h>

#include "math_functions.h"

namespace tunesmith::llvm_target {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.693147180559945309;
// log((1 + s) / (1 - s)) / s in s^2, |s| < 0.1716.
constexpr std::array kAtanh = {2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0};
// exp(r), |r| < 0.35.
constexpr std::array kTaylor = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                1.0 / 24,      1.0 / 6,      0.5,         1.0,        1.0};

}  // namespace

/// By way of f64, whose logarithm has the digits that the exponent multiplies.
llvm::Value* MathFunctions::pow_f32(Value x, Value y) {
  // Powers written out are the common case, and cheap.
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(y)) {
    const llvm::Constant* lane = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant;
    const auto* exponent = llvm::dyn_cast_or_null<llvm::ConstantFP>(lane);
    if (exponent != nullptr && exponent->isExactlyValue(2.0)) return ir_.CreateFMul(x, x);
  }
  llvm::Type* f64 = x->getType()->getWithNewType(ir_.getDoubleTy());
  Value base = ir_.CreateFPExt(x, f64);
  Value exponent = ir_.CreateFPExt(y, f64);
  Value magnitude = absolute(base);
  Value power = exp_f64(ir_.CreateFMul(exponent, log_positive_f64(magnitude)));
  const auto truncated = [&](Value v) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v); };
  Value half = ir_.CreateFMul(exponent, number(exponent, 0.5));
  Value is_integer = ir_.CreateFCmpOEQ(truncated(exponent), exponent);
  Value is_odd = ir_.CreateAnd(is_integer, ir_.CreateFCmpUNE(truncated(half), half));
  power = ir_.CreateSelect(is_odd, with_sign_of(power, base), power);
  // A negative number has only integer powers; powers of minus infinity are like those of infinity.
  Value negative = ir_.CreateAnd(ir_.CreateFCmpOLT(base, number(base, 0.0)),
                                 ir_.CreateFCmpONE(base, number(base, -kInfinity)));
  Value undefined = ir_.CreateAnd(negative, ir_.CreateNot(is_integer));
  power = ir_.CreateSelect(undefined, number(base, std::numeric_limits<double>::quiet_NaN()), power);
  Value endless = ir_.CreateFCmpOEQ(absolute(exponent), number(exponent, kInfinity));
  Value unit = ir_.CreateAnd(endless, ir_.CreateFCmpOEQ(magnitude, number(base, 1.0)));
  Value one = ir_.CreateOr(unit, ir_.CreateOr(ir_.CreateFCmpOEQ(exponent, number(exponent, 0.0)),
                                              ir_.CreateFCmpOEQ(base, number(base, 1.0))));
  return ir_.CreateFPTrunc(ir_.CreateSelect(one, number(base, 1.0), power), x->getType());
}

/// For x >= 0 that came from an f32, hence no f64 denormal; 2^-40 relative.
llvm::Value* MathFunctions::log_positive_f64(Value x) {
  constexpr int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  Value bits = ir_.CreateBitCast(x, integers_like(x));
  Value exponent = ir_.CreateAShr(ir_.CreateSub(bits, integer(bits, kSqrtHalfBits)), integer(bits, 52));
  Value mantissa =
      ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(exponent, integer(bits, 52))), x->getType());
  Value s =
      ir_.CreateFDiv(ir_.CreateFSub(mantissa, number(x, 1.0)), ir_.CreateFAdd(mantissa, number(x, 1.0)));
  Value fraction = ir_.CreateFMul(s, polynomial(ir_.CreateFMul(s, s), kAtanh));
  Value result = multiply_add(ir_.CreateSIToFP(exponent, x->getType()), number(x, kLn2), fraction);
  result = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, number(x, 0.0)), number(x, -kInfinity), result);
  return ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, kInfinity)), result, x);
}

/// Relative error 2^-38; values below f32's range are 0.
llvm::Value* MathFunctions::exp_f64(Value x) {
  x = ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(x, 200.0)), number(x, 200.0), x);
  x = ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, -200.0)), number(x, -200.0), x);
  constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
  Value shifted = multiply_add(x, number(x, 1.44269504088896341), number(x, kRounder));
  Value bits = ir_.CreateBitCast(shifted, integers_like(x));
  Value n = ir_.CreateFSub(shifted, number(x, kRounder));
  Value p = polynomial(multiply_add(n, number(x, -kLn2), x), kTaylor);
  // The low bits of `shifted` are n; the bits above are shifted out.
  Value power = ir_.CreateShl(ir_.CreateAdd(bits, integer(bits, 1023)), integer(bits, 52));
  return ir_.CreateFMul(p, ir_.CreateBitCast(power, x->getType()));
}

}  // namespace tunesmith::llvm_target
