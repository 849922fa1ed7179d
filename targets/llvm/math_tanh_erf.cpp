#include <array>

#include "math_functions.h"

namespace tunesmith::llvm_target {

namespace {

// Cephes: (tanh(x) - x) / x^3 in x^2, for |x| < 0.625.
constexpr std::array kTanh = {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                              -3.33332819422e-1};
constexpr double kTanhSmall = 0.625;
// N. Juffa: (erf(x) - x) / x in x^2, for |x| <= 0.927734375, and the rest of -log(1 - erf(x)) behind x *
// (...) beyond.
constexpr std::array kErfSmall = {-5.96761703e-4, 4.99119423e-3,  -2.67681349e-2,
                                  1.12819925e-1,  -3.76125336e-1, 1.28379166e-1};
constexpr std::array kErfLarge = {-1.72853470e-5, 3.83197126e-4,  -3.88396438e-3, 2.42546219e-2,
                                  -1.06777877e-1, -6.34846687e-1, -1.28717512e-1};
constexpr double kErfBoundary = 0.927734375;
/// From here on the results are 1 in f32.
constexpr double kErfOne = 4.0;
constexpr double kTanhOne = 10.0;

}  // namespace

llvm::Value* MathFunctions::tanh_f32(Value x) {
  Value magnitude = absolute(x);
  Value square = ir_.CreateFMul(x, x);
  Value small = multiply_add(ir_.CreateFMul(x, square), polynomial(square, kTanh), x);
  Value t =
      ir_.CreateSelect(ir_.CreateFCmpOGT(magnitude, number(x, kTanhOne)), number(x, kTanhOne), magnitude);
  Value power = ir_.CreateFAdd(exp_in_range_f32(ir_.CreateFAdd(t, t)), number(x, 1.0));
  Value large = ir_.CreateFSub(number(x, 1.0), ir_.CreateFDiv(number(x, 2.0), power));
  return ir_.CreateSelect(ir_.CreateFCmpOGE(magnitude, number(x, kTanhSmall)), with_sign_of(large, x), small);
}

llvm::Value* MathFunctions::erf_f32(Value x) {
  Value magnitude = absolute(x);
  Value small = multiply_add(x, polynomial(ir_.CreateFMul(x, x), kErfSmall), x);
  Value t = ir_.CreateSelect(ir_.CreateFCmpOGT(magnitude, number(x, kErfOne)), number(x, kErfOne), magnitude);
  Value exponent = multiply_add(polynomial_by_pairs(t, kErfLarge), t, ir_.CreateFNeg(t));
  Value large = ir_.CreateFSub(number(x, 1.0), exp_in_range_f32(exponent));
  return ir_.CreateSelect(ir_.CreateFCmpOGT(magnitude, number(x, kErfBoundary)), with_sign_of(large, x),
                          small);
}

}  // namespace tunesmith::llvm_target
