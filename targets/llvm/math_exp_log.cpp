#include <array>
#include <limits>
#include <numbers>

#include "math_functions.h"

namespace tunesmith::llvm_target {

namespace {

// ln 2 in two parts; the first has so few digits that its product with an exponent is exact.
constexpr double kLn2High = 0.693145751953125;
constexpr double kLn2Low = 1.42860682030941723212e-6;
// (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, with the smallest maximum of the relative error of exp(r):
// 0.06 units in the last place.
constexpr std::array kExp = {1.3814540613e-3, 8.3687454724e-3, 4.1668390804e-2, 1.6666520396e-1,
                             4.9999993432e-1};
// Cephes' coefficients: (log(1 + f) - f + f^2 / 2) / f^3.
constexpr std::array kLog = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,
                             -1.2420140846e-1, 1.4249322787e-1,  -1.6668057665e-1,
                             2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};

}  // namespace

/// exp(x) = 2^n * exp(r), |r| <= ln(2) / 2.
llvm::Value* MathFunctions::exp_f32(Value x) {
  // Beyond these the result is infinite or taken for zero; comparisons leave a NaN as it is.
  constexpr double kLargest = 89.0, kSmallest = -87.5;
  x = ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(x, kLargest)), number(x, kLargest), x);
  x = ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, kSmallest)), number(x, kSmallest), x);
  const auto [shifted, tail] = reduce_argument(x);
  // Twice exp(r) times half the power: 2^128 is no number, though its product with exp(r) may be one.
  Value two = number(x, 2.0);
  return ir_.CreateFMul(multiply_add(tail, two, two), power_of_two(shifted, -1));
}

/// exp(x) for x from -87.3 to 88.9, where those from 88.4 on are infinite.
llvm::Value* MathFunctions::exp_in_range_f32(Value x) {
  const auto [shifted, tail] = reduce_argument(x);
  return ir_.CreateFMul(ir_.CreateFAdd(tail, number(x, 1.0)), power_of_two(shifted, 0));
}

MathFunctions::Reduced MathFunctions::reduce_argument(Value x) {
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits: no conversion that a NaN could
  // upset.
  constexpr double kRounder = 12582912.0;
  Value shifted = multiply_add(x, number(x, std::numbers::log2e), number(x, kRounder));
  Value n = ir_.CreateFSub(shifted, number(x, kRounder));
  Value r = multiply_add(n, number(x, -kLn2Low), multiply_add(n, number(x, -kLn2High), x));
  return {shifted, multiply_add(ir_.CreateFMul(r, r), polynomial_by_pairs(r, kExp), r)};
}

/// 2^(n + more), n as reduce_argument() has shifted it: from 2^-126 on, 0 in place of 2^-127, infinity of
/// 2^128.
llvm::Value* MathFunctions::power_of_two(Value shifted, int64_t more) {
  constexpr int64_t kMantissaBits = 23, kBias = 127;
  Value bits = ir_.CreateBitCast(shifted, integers_like(shifted));
  // The bits of the number that rounded are shifted out.
  bits = ir_.CreateShl(bits, integer(bits, kMantissaBits));
  bits = ir_.CreateAdd(bits, integer(bits, (kBias + more) << kMantissaBits));
  return ir_.CreateBitCast(bits, shifted->getType());
}

/// 1 / (1 + exp(-x))
llvm::Value* MathFunctions::sigmoid(Value x) {
  Value one = number(x, 1.0);
  if (!x->getType()->getScalarType()->isFloatTy())
    return ir_.CreateFDiv(one, ir_.CreateFAdd(one, emit(MathOp::Exp, ir_.CreateFNeg(x))));
  // Beyond these it is 1, or 0 but for denormals; comparisons leave a NaN as it is.
  constexpr double kLargest = 87.0, kSmallest = -88.8;
  Value t = ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(x, kLargest)), number(x, kLargest), x);
  t = ir_.CreateSelect(ir_.CreateFCmpOLT(t, number(x, kSmallest)), number(x, kSmallest), t);
  return ir_.CreateFDiv(one, ir_.CreateFAdd(one, exp_in_range_f32(ir_.CreateFNeg(t))));
}

/// log(x) = e * ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
llvm::Value* MathFunctions::log_f32(Value x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int64_t kSqrtHalfBits = 0x3f3504f3;
  Value denormal = ir_.CreateFCmpOLT(x, number(x, std::numeric_limits<float>::min()));
  Value normal = ir_.CreateSelect(denormal, ir_.CreateFMul(x, number(x, 0x1p23)), x);
  Value bits = ir_.CreateBitCast(normal, integers_like(x));
  Value exponent = ir_.CreateAShr(ir_.CreateSub(bits, integer(bits, kSqrtHalfBits)), integer(bits, 23));
  Value mantissa =
      ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(exponent, integer(bits, 23))), x->getType());
  exponent = ir_.CreateSelect(denormal, ir_.CreateSub(exponent, integer(bits, 23)), exponent);
  Value e = ir_.CreateSIToFP(exponent, x->getType());
  Value f = ir_.CreateFSub(mantissa, number(x, 1.0));
  Value square = ir_.CreateFMul(f, f);
  Value tail = ir_.CreateFMul(ir_.CreateFMul(f, square), polynomial(f, kLog));
  tail = multiply_add(e, number(x, kLn2Low), tail);
  tail = multiply_add(square, number(x, -0.5), tail);
  Value result = multiply_add(e, number(x, kLn2High), ir_.CreateFAdd(f, tail));
  result = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, number(x, kInfinity)), x, result);
  result = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, number(x, 0.0)), number(x, -kInfinity), result);
  return ir_.CreateSelect(ir_.CreateFCmpULT(x, number(x, 0.0)),
                          number(x, std::numeric_limits<double>::quiet_NaN()), result);
}

}  // namespace tunesmith::llvm_target
