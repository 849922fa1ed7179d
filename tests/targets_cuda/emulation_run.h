// Runs kernels of kernels/, or texts, on the emulated device, and compares them with a reference in double.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulation/emulated_kernel.h"

namespace tunesmith::testing {

std::string kernel_text(const std::string& file);

/// `text` with the first `from` replaced; fails the test if there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

/// Uniform values in [-1, 1), and their bytes as f32 or f16; `values` are as rounded to the type.
std::vector<float> random_values(size_t count, uint64_t seed);
std::vector<unsigned char> f32_bytes(const std::vector<float>& values);
std::vector<unsigned char> f16_bytes(std::vector<float>& values);

template <class Value>
std::vector<unsigned char> bytes_of(const std::vector<Value>& values) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  return {bytes, bytes + values.size() * sizeof(Value)};
}
template <class Value>
std::vector<Value> values_of(const std::vector<unsigned char>& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<unsigned char*>(values.data()));
  return values;
}

cuda::EmulatedArgument buffer(const std::string& name, std::vector<unsigned char> bytes);
/// An output filled with NaN, or -1 for integers.
cuda::EmulatedArgument output(const std::string& name, size_t bytes);
cuda::EmulatedArgument value(int number);

/// A launch with known outputs.
struct Case {
  std::string file, kernel;
  cuda::Launch launch;
  std::vector<cuda::EmulatedArgument> arguments;
  size_t result = 0;             // the argument that is the result, f32
  std::vector<double> expected;  // of its elements
};

/// The kernels of kernels/, on shapes with more steps than stages.
Case sgemm_case(int rows, int columns, int depth);
Case hgemm_case(int rows, int columns, int depth);
Case wmma_case(int rows, int columns, int depth);
Case wgmma_case(int rows, int columns, int depth);
Case tma_case(int rows, int columns, int depth);
Case softmax_case(int rows, int columns);

/// The result of a run.
struct Outcome {
  cuda::EmulationReport report;
  double error = 0;  // the largest, relative to the largest expected magnitude; infinite for NaN

  bool right() const { return report.clean() && error < 1e-5; }
};
Outcome run(const Case& test, cuda::EmulatedKernel& kernel, cuda::ThreadOrder order);

/// Compiles `text` in the place of the case's and runs it in the three orders. Returns the first fault, or
/// "". Fails the test if it does not compile.
std::string what_is_wrong(const Case& test, const std::string& text, bool checked = true);

/// A kernel `test` of a text, one block unless said; its findings in the forward order.
cuda::EmulationReport run_text(const std::string& text, std::vector<cuda::EmulatedArgument>& arguments,
                               unsigned threads, size_t dynamic_shared_bytes = 0, unsigned blocks = 1,
                               cuda::ThreadOrder order = cuda::ThreadOrder::Forward);

}  // namespace tunesmith::testing
