#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/verification/reference.h"
#include "tunesmith/verification/verify_outputs.h"
#include "unit/verification/reference_data.h"

namespace tunesmith {
namespace {

using namespace test;

Tensor numbers(const std::vector<double>& values, std::vector<int64_t> shape) {
  Tensor tensor = Tensor::zeros(kF64, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

struct Function {
  std::string text;
  std::function<double(double)> of;
};

// Also where the result underflows, or the error is as large as the value.
TEST(ErrorBound, HoldsWhateverTheErrorOfTheArgumentIs) {
  const std::vector<Function> functions{
      {"exp(D[i])", [](double x) { return std::exp(x); }},
      {"log(D[i])", [](double x) { return std::log(x); }},
      {"sqrt(D[i])", [](double x) { return std::sqrt(x); }},
      {"rsqrt(D[i])", [](double x) { return 1.0 / std::sqrt(x); }},
      {"2 / D[i]", [](double x) { return 2.0 / x; }},
      {"tanh(D[i])", [](double x) { return std::tanh(x); }},
      {"sigmoid(D[i])", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
      {"erf(D[i])", [](double x) { return std::erf(x); }},
      {"round_even(D[i])", [](double x) { return std::nearbyint(x); }},
      {"pow(D[i], 2)", [](double x) { return x * x; }},
      {"pow(D[i], 0.5)", [](double x) { return std::sqrt(x); }},
      {"pow(D[i], -1.5)", [](double x) { return std::pow(x, -1.5); }},
  };
  std::vector<double> x, z, at;
  for (const double error : {1e-6, 0.1, 0.7, 3.0, 60.0, 750.0}) {
    for (const double value : {-800.0, -100.0, -1.0, 0.0, 1e-30, 1e-3, 0.8, 1.0, 5.0, 100.0, 700.0}) {
      x.push_back(error / 3.0 * 0x1p24);  // its product with three may be off by `error`
      z.push_back(3.0 * x.back() - value);
      at.push_back(3.0 * x.back() - z.back());
    }
  }
  const std::string n = std::to_string(x.size());
  for (const Function& function : functions) {
    const Program program = program_of("D[i<n] = X[i] * 3 - Z[i]\n  O[i<n] = " + function.text,
                                       "X: {shape: [n], dtype: dtype}\n  Z: {shape: [n], dtype: dtype}",
                                       "n: " + n + ", dtype: f32");
    const auto extent = static_cast<int64_t>(x.size());
    const std::vector<Tensor> results =
        run(reference_program(program, DataKind::Random), {numbers(x, {extent}), numbers(z, {extent})});
    for (size_t i = 0; i < x.size(); ++i) {
      const double bound = results[1].get(static_cast<int64_t>(i));
      if (!std::isfinite(function.of(at[i])) || bound > 1e50) continue;
      for (const double part : {-1.0, -0.9, -0.5, 0.5, 0.9, 1.0}) {
        const double off = std::abs(function.of(at[i] + part * 3.0 * x[i] * 0x1p-24) - function.of(at[i]));
        if (std::isnan(off)) continue;  // the root of a negative number
        EXPECT_LE(off, bound * (1.0 + 1e-9) + 1e-300)
            << function.text << " at " << at[i] << ", off by " << part * 3.0 * x[i] * 0x1p-24;
      }
    }
  }
}

// The argument's error is so large that a correct program's exponential may not underflow.
TEST(ErrorBound, OfAnExponentialThatUnderflowsIsNotZero) {
  std::vector<double> x, z;
  for (int64_t odd = (int64_t{1} << 24) - 1; x.size() < 8; odd -= 2) {
    const double number = std::ldexp(static_cast<double>(odd), 10);
    const auto rounded = static_cast<float>(3.0 * number);
    if (double{rounded} <= 3.0 * number) continue;
    x.push_back(number);
    z.push_back(double{rounded});
  }
  const Program program =
      program_of("O[i<n] = exp(X[i] * 3 - Z[i])",
                 "X: {shape: [n], dtype: dtype}\n  Z: {shape: [n], dtype: dtype}", "n: 8, dtype: f32");
  const std::vector<Tensor> inputs{numbers(x, {8}), numbers(z, {8})};
  const std::vector<Tensor> got = run(program, inputs);
  const std::vector<Tensor> wanted = run(reference_program(program, DataKind::Random), inputs);
  EXPECT_EQ(got[0].get(0), 1.0);
  EXPECT_EQ(wanted[0].get(0), 0.0);
  EXPECT_LE(ExpectedOutput(program.outputs[0], wanted[0], &wanted[1]).compare(got[0].bytes.data()).worst,
            1.0);
}

constexpr const char* kSoftmax = R"(Y[i<n, j<n] = X[i, j] + M[i, j]
  L[i<n] = max(j<n) Y[i, j]
  E[i<n, j<n] = exp(Y[i, j] - L[i])
  S[i<n] = sum(j<n) E[i, j]
  P[i<n, j<n] = E[i, j] / S[i]
  )";

std::vector<Tensor> masked(int64_t n, double mask) {
  std::vector<Tensor> inputs{Tensor::zeros(kF64, {n, n}), Tensor::zeros(kF64, {n, n})};
  for (int64_t i = 0; i < n * n; ++i) {
    inputs[0].set(i, static_cast<double>(static_cast<float>(-20.0 * std::sin(static_cast<double>(i)))));
    inputs[1].set(i, i % n > i / n ? mask : 0.0);
  }
  return inputs;
}

// A sum with the lowest number of its type may become -infinity, but never large.
TEST(ErrorBound, OfAMaskedSoftmaxIsTight) {
  for (const auto& [type, mask] :
       {std::pair("f32", -std::numeric_limits<double>::infinity()), std::pair("f16", -65504.0),
        std::pair("f32", -3.4028234663852886e38), std::pair("f32", -1e9)}) {
    for (const std::string guard :
         {"O[i<n, j<n] = P[i, j]",
          "B[i<n, j<n] = P[i, j] != P[i, j]\n  O[i<n, j<n] = select(B[i, j], 0, P[i, j])",
          "O[i<n, j<n] = select(P[i, j] == P[i, j], P[i, j], 0)"}) {
      const Program program =
          program_of(kSoftmax + guard, "X: {shape: [n, n], dtype: dtype}\n  M: {shape: [n, n], dtype: dtype}",
                     std::string("n: 8, dtype: ") + type);
      const std::vector<Tensor> inputs = masked(8, mask);
      const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), inputs);
      EXPECT_LT(looseness(results[0], &results[1]), 0.05) << type << mask << guard;
      const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
      EXPECT_LE(expected.compare(run(program, inputs)[0].bytes.data()).worst, 1.0) << type << mask << guard;
    }
  }
}

// The mask is selected, not added.
TEST(ErrorBound, OfARowOfTheLowestNumbersIsTight) {
  const Program program = program_of(
      "Y[i<n, j<n] = select(M[i, j] < 0, -3.4028234663852886e38, X[i, j])\n"
      "  L[i<n] = max(j<n) Y[i, j]\n  O[i<n, j<n] = exp(Y[i, j] - L[i])",
      "X: {shape: [n, n], dtype: dtype}\n  M: {shape: [n, n], dtype: dtype}", "n: 8, dtype: f32");
  std::vector<Tensor> inputs = masked(8, -1.0);
  for (int64_t j = 0; j < 8; ++j) inputs[1].set(8 + j, -1.0);
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), inputs);
  EXPECT_EQ(results[0].get(8), 1.0);
  EXPECT_LT(looseness(results[0], &results[1]), 1e-5);
}

// The sum of whole numbers is exact: only the tie in the middle is in doubt.
TEST(ErrorBound, OfAQuantizedNumberIsZeroAwayFromTies) {
  const Program program = program_of("O[i<n] = i8(round_even(X[i] / Y[i]) + f32(Z[i]))",
                                     "X: {shape: [n], dtype: f32}\n  Y: {shape: [n], dtype: f32}\n  "
                                     "Z: {shape: [n], dtype: i8}",
                                     "n: 3");
  Tensor zeros = Tensor::zeros(kI8, {3});
  for (int64_t i = 0; i < 3; ++i) zeros.set_int(i, 100);
  const std::vector<Tensor> results =
      run(reference_program(program, DataKind::Random),
          {numbers({1.0, 7.5, 1e6}, {3}), numbers({3.0, 3.0, 3.0}, {3}), zeros});
  EXPECT_EQ(results[0].get_int(1), 102);
  EXPECT_EQ(results[0].get_int(2), 127);
  EXPECT_EQ(results[1].get(0), 0.0);
  EXPECT_EQ(results[1].get(1), 2.0);
  EXPECT_EQ(results[1].get(2), 0.0);
}

// An unknown value may be NaN.
TEST(ErrorBound, OfAQuestionForNaNIsThatOfWhatMayBeAnything) {
  const Program program =
      program_of("B[i<n] = log(X[i] * 3 - Z[i])\n  O[i<n] = select(B[i] != B[i], f32(0), f32(1))",
                 "X: {shape: [n], dtype: dtype}\n  Z: {shape: [n], dtype: dtype}", "n: 2, dtype: f32");
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random),
                                          {numbers({1e9, 1.0}, {2}), numbers({3e9 - 1, 2.0}, {2})});
  EXPECT_EQ(results[1].get(0), 1.0);
  EXPECT_EQ(results[1].get(1), 0.0);
}

}  // namespace
}  // namespace tunesmith
