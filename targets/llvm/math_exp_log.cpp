#include <array>
#include <limits>

#include <llvm/IR/IntrinsicsX86.h>

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
  // Beyond these the result is infinite or zero anyway; comparisons leave a NaN as it is.
  x = ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(x, 89.0)), number(x, 89.0), x);
  x = ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, -104.0)), number(x, -104.0), x);
  // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits: no conversion that a NaN could
  // upset.
  constexpr double kRounder = 12582912.0;
  constexpr int64_t kRounderBits = 0x4b400000;
  Value shifted = multiply_add(x, number(x, 1.44269504088896341), number(x, kRounder));
  Value bits = ir_.CreateBitCast(shifted, integers_like(x));
  Value n_int = ir_.CreateSub(bits, integer(bits, kRounderBits));
  Value n = ir_.CreateFSub(shifted, number(x, kRounder));
  Value r = multiply_add(n, number(x, -kLn2High), x);
  r = multiply_add(n, number(x, -kLn2Low), r);
  Value p = polynomial(r, kExp);
  Value one = number(x, 1.0);
  // Without fused operations Horner's scheme would round once too often to keep the bound.
  p = traits_.fma ? multiply_add(multiply_add(p, r, one), r, one)
                  : ir_.CreateFAdd(multiply_add(ir_.CreateFMul(r, r), p, r), one);
  return times_power_of_two(p, n, n_int);
}

/// x * 2^n, right also where the power alone is no normal number.
llvm::Value* MathFunctions::times_power_of_two(Value x, Value exponent_float, Value exponent_int) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (traits_.scale_by_power && vector != nullptr && vector->getNumElements() == 16) {
    constexpr uint32_t kCurrentRounding = 4;
    return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                               {x, exponent_float, llvm::PoisonValue::get(x->getType()), ir_.getInt16(0xffff),
                                ir_.getInt32(kCurrentRounding)});
  }
  Value half = ir_.CreateAShr(exponent_int, integer(exponent_int, 1));
  const auto power = [&](Value n) {
    Value bits = ir_.CreateShl(ir_.CreateAdd(n, integer(n, 127)), integer(n, 23));
    return ir_.CreateBitCast(bits, x->getType());
  };
  return ir_.CreateFMul(ir_.CreateFMul(x, power(half)), power(ir_.CreateSub(exponent_int, half)));
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
