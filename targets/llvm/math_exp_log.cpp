#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <llvm/Analysis/VectorUtils.h>
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
// The same for |r| <= ln(2) / 16, with an error of 0.003 units, and for |r| <= ln(2) / 32, with 0.03.
constexpr std::array kExpOf8 = {4.1660430e-2, 1.6668026e-1, 5.0000001e-1};
constexpr std::array kExpOf16 = {1.6666718e-1, 5.0000016e-1};
// ln(2) in two floats.
constexpr double kLn2Nearest = 0.6931471824645996, kLn2Rest = -1.904654299957768e-9;
constexpr int kMantissaBits = 23;
// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits, without a conversion, which is
// undefined for NaN.
constexpr double kFloatRounder = 12582912.0;
// Cephes' coefficients: (log(1 + f) - f + f^2 / 2) / f^3.
constexpr std::array kLog = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,
                             -1.2420140846e-1, 1.4249322787e-1,  -1.6668057665e-1,
                             2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};

}  // namespace

/// exp(x) = 2^n * exp(r), |r| <= ln(2) / 2.
llvm::Value* MathFunctions::exp_f32(Value x) {
  // Beyond these the result is infinite or flushed to zero; comparisons leave a NaN unchanged.
  constexpr double kLargest = 89.0, kSmallest = -87.5, kSmallestByTable = -86.64;
  x = ir_.CreateSelect(ir_.CreateFCmpOGT(x, number(x, kLargest)), number(x, kLargest), x);
  if (table_size(x) != 0) {
    // 2^128 overflows, though the result may not: computes half of it, and doubles it.
    Value half = exp_by_table(x, -1);
    Value whole = ir_.CreateFAdd(half, half);
    return ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, kSmallestByTable)), number(x, 0.0), whole);
  }
  x = ir_.CreateSelect(ir_.CreateFCmpOLT(x, number(x, kSmallest)), number(x, kSmallest), x);
  const auto [shifted, tail] = reduce_argument(x);
  // Twice exp(r) times half the power: 2^128 overflows, though its product with exp(r) may not.
  Value two = number(x, 2.0);
  return ir_.CreateFMul(multiply_add(tail, two, two), power_of_two(shifted, -1));
}

/// exp(x) for x from -86.6 to 88.3; without a table up to 88.9, where those from 88.4 on are infinite.
llvm::Value* MathFunctions::exp_in_range_f32(Value x) {
  if (table_size(x) != 0) return exp_by_table(x, 0);
  const auto [shifted, tail] = reduce_argument(x);
  return ir_.CreateFMul(ir_.CreateFAdd(tail, number(x, 1.0)), power_of_two(shifted, 0));
}

MathFunctions::Reduced MathFunctions::reduce_argument(Value x) {
  Value shifted = multiply_add(x, number(x, std::numbers::log2e), number(x, kFloatRounder));
  Value n = ir_.CreateFSub(shifted, number(x, kFloatRounder));
  Value r = multiply_add(n, number(x, -kLn2Low), multiply_add(n, number(x, -kLn2High), x));
  return {shifted, multiply_add(ir_.CreateFMul(r, r), polynomial_by_pairs(r, kExp), r)};
}

unsigned MathFunctions::table_size(const llvm::Value* x) const {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return 0;
  for (const unsigned lanes : {16U, 8U}) {
    if (lanes <= traits_.permuted_lanes && vector->getNumElements() % lanes == 0) return lanes;
  }
  return 0;
}

/// table[index % size] in each lane.
llvm::Value* MathFunctions::lookup(llvm::ArrayRef<uint32_t> table, Value indices) {
  const auto size = static_cast<unsigned>(table.size());
  const auto permute =
      size == 16 ? llvm::Intrinsic::x86_avx512_permvar_sf_512 : llvm::Intrinsic::x86_avx2_permps;
  Value entries = ir_.CreateBitCast(llvm::ConstantDataVector::get(ir_.getContext(), table),
                                    llvm::FixedVectorType::get(ir_.getFloatTy(), size));
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(indices->getType())->getNumElements();
  llvm::SmallVector<Value, 8> parts;
  for (unsigned first = 0; first < lanes; first += size) {
    Value part = ir_.CreateShuffleVector(indices, llvm::createSequentialMask(first, size, 0));
    parts.push_back(ir_.CreateIntrinsic(permute, {}, {entries, part}));
  }
  return ir_.CreateBitCast(llvm::concatenateVectors(ir_, parts), indices->getType());
}

/// 2^more * exp(x), exp(x) = 2^(n / size) * exp(r), |r| <= ln(2) / size / 2: a table of 2^(i / size) saves
/// two or three terms of the series.
llvm::Value* MathFunctions::exp_by_table(Value x, int64_t more) {
  const unsigned size = table_size(x);
  const int index_shift = kMantissaBits - std::countr_zero(size);
  std::vector<uint32_t> table;
  for (uint32_t i = 0; i < size; ++i) {
    const float power =
        std::exp2(static_cast<float>(i) / static_cast<float>(size) + static_cast<float>(more));
    // n, shifted to the exponent, has its index below that.
    table.push_back(std::bit_cast<uint32_t>(power) - (i << index_shift));
  }
  Value shifted = multiply_add(x, number(x, size * std::numbers::log2e), number(x, kFloatRounder));
  Value n = ir_.CreateFSub(shifted, number(x, kFloatRounder));
  Value r = multiply_add(n, number(x, -kLn2Rest / size), multiply_add(n, number(x, -kLn2Nearest / size), x));
  Value terms = size == 16 ? polynomial(r, kExpOf16) : polynomial(r, kExpOf8);
  Value bits = ir_.CreateBitCast(shifted, integers_like(shifted));
  Value power = ir_.CreateAdd(lookup(table, bits), ir_.CreateShl(bits, integer(bits, index_shift)));
  power = ir_.CreateBitCast(power, x->getType());
  Value tail = ir_.CreateFMul(multiply_add(terms, r, number(x, 1.0)), r);
  return multiply_add(tail, power, power);
}

/// 2^(n + more), n as shifted by reduce_argument(): from 2^-126 on; 0 instead of 2^-127, infinity for 2^128.
llvm::Value* MathFunctions::power_of_two(Value shifted, int64_t more) {
  constexpr int64_t kBias = 127;
  Value bits = ir_.CreateBitCast(shifted, integers_like(shifted));
  // The bits of the number that rounded are shifted out.
  bits = ir_.CreateShl(bits, integer(bits, kMantissaBits));
  bits = ir_.CreateAdd(bits, integer(bits, (kBias + more) << kMantissaBits));
  return ir_.CreateBitCast(bits, shifted->getType());
}

/// 1 / (1 + exp(-x))
llvm::Value* MathFunctions::sigmoid(Value x) {
  Value one = number(x, 1.0);
  if (!x->getType()->getScalarType()->isFloatTy() || table_size(x) != 0)
    return ir_.CreateFDiv(one, ir_.CreateFAdd(one, emit(MathOp::Exp, ir_.CreateFNeg(x))));
  // Beyond these it is 1, or 0 except for denormals; comparisons keep a NaN.
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
