#include "emulation_run.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/float16.h"
#include "tunesmith/support/random.h"

namespace tunesmith::testing {

using cuda::EmulatedArgument;
using cuda::EmulatedKernel;
using cuda::EmulationOptions;
using cuda::EmulationReport;
using cuda::ThreadOrder;

namespace {

constexpr double kSeconds = 20;

EmulatedArgument tensor_map(const std::string& buffer, unsigned inner, unsigned outer, unsigned box_inner,
                            unsigned box_outer) {
  EmulatedArgument argument;
  argument.name = buffer;
  argument.kind = EmulatedArgument::Kind::Map;
  argument.tensor = BoxedTensor::dense({inner, outer}, {box_inner, box_outer});
  return argument;
}

// The arguments of all matrix products: A, B, C, M, N, K.
Case gemm_case(const std::string& file, const std::string& kernel, bool f16, int rows, int columns,
               int depth) {
  Case test;
  test.file = file;
  test.kernel = kernel;
  std::vector<float> a = random_values(size_t(rows) * size_t(depth), 1),
                     b = random_values(size_t(depth) * size_t(columns), 2);
  test.arguments = {buffer("A", f16 ? f16_bytes(a) : f32_bytes(a)),
                    buffer("B", f16 ? f16_bytes(b) : f32_bytes(b)),
                    output("C", size_t(rows) * size_t(columns) * 4),
                    value(rows),
                    value(columns),
                    value(depth)};
  test.result = 2;
  test.expected.assign(size_t(rows) * size_t(columns), 0);
  for (size_t i = 0; i < size_t(rows); ++i)
    for (size_t k = 0; k < size_t(depth); ++k)
      for (size_t j = 0; j < size_t(columns); ++j)
        test.expected[i * size_t(columns) + j] +=
            double(a[i * size_t(depth) + k]) * double(b[k * size_t(columns) + j]);
  return test;
}

unsigned parts(int extent, int tile) { return unsigned((extent + tile - 1) / tile); }

}  // namespace

std::string kernel_text(const std::string& file) {
  std::ifstream stream(std::string(TUNESMITH_SOURCE_DIR) + "/tests/targets_cuda/kernels/" + file);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the kernel has no '" << from << "'";
    return text;
  }
  return text.replace(at, from.size(), to);
}

std::vector<float> random_values(size_t count, uint64_t seed) {
  RandomStream random(seed);
  std::vector<float> values(count);
  for (float& one : values) one = float(2 * random.uniform() - 1);
  return values;
}

std::vector<unsigned char> f32_bytes(const std::vector<float>& values) { return bytes_of(values); }

std::vector<unsigned char> f16_bytes(std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (float& one : values) {
    halves.push_back(tunesmith_emulation::f32_to_f16(one));
    one = tunesmith_emulation::f16_to_f32(halves.back());
  }
  return bytes_of(halves);
}

EmulatedArgument buffer(const std::string& name, std::vector<unsigned char> bytes) {
  EmulatedArgument argument;
  argument.name = name;
  argument.kind = EmulatedArgument::Kind::Buffer;
  argument.bytes = std::move(bytes);
  return argument;
}

EmulatedArgument output(const std::string& name, size_t bytes) {
  return buffer(name, std::vector<unsigned char>(bytes, static_cast<unsigned char>(0xff)));
}

EmulatedArgument value(int number) {
  EmulatedArgument argument;
  argument.bytes = bytes_of(std::vector<int>{number});
  return argument;
}

Case sgemm_case(int rows, int columns, int depth) {
  Case test = gemm_case("sgemm.cu", "sgemm", false, rows, columns, depth);
  test.launch = {{parts(columns, 64), parts(rows, 64), 1}, {256, 1, 1}, 16896};
  return test;
}

Case hgemm_case(int rows, int columns, int depth) {
  Case test = gemm_case("hgemm.cu", "hgemm", true, rows, columns, depth);
  test.launch = {{parts(columns, 64), parts(rows, 64), 1}, {128, 1, 1}, size_t(3) * 8192};
  return test;
}

Case wmma_case(int rows, int columns, int depth) {
  Case test = gemm_case("wmma.cu", "wmma", true, rows, columns, depth);
  test.launch = {{parts(columns, 32), parts(rows, 32), 1}, {128, 1, 1}, 0};
  return test;
}

Case wgmma_case(int rows, int columns, int depth) {
  Case test = gemm_case("wgmma.cu", "hgemm", true, rows, columns, depth);
  test.launch = {{parts(columns, 128), parts(rows, 64), 1}, {128, 1, 1}, size_t(4) * 24576 + 1024};
  return test;
}

Case tma_case(int rows, int columns, int depth) {
  Case test = gemm_case("tma.cu", "hgemm", true, rows, columns, depth);
  test.launch = {{parts(columns, 128), parts(rows, 64), 1}, {256, 1, 1}, size_t(3) * 24576 + 2048};
  test.arguments[0].kind = test.arguments[1].kind = EmulatedArgument::Kind::Hidden;
  test.arguments.insert(test.arguments.begin() + 2,
                        {tensor_map("A", unsigned(depth), unsigned(rows), 64, 64),
                         tensor_map("B", unsigned(columns), unsigned(depth), 64, 64)});
  test.result = 4;
  return test;
}

Case softmax_case(int rows, int columns) {
  Case test;
  test.file = "softmax.cu";
  test.kernel = "softmax";
  const std::vector<float> x = random_values(size_t(rows) * size_t(columns), 3);
  test.arguments = {buffer("X", f32_bytes(x)), output("Y", x.size() * 4), value(columns)};
  test.launch = {{unsigned(rows), 1, 1}, {128, 1, 1}, 0};
  test.result = 1;
  for (size_t i = 0; i < size_t(rows); ++i) {
    double sum = 0;
    for (size_t j = 0; j < size_t(columns); ++j) sum += std::exp(double(x[i * size_t(columns) + j]));
    for (size_t j = 0; j < size_t(columns); ++j)
      test.expected.push_back(std::exp(double(x[i * size_t(columns) + j])) / sum);
  }
  return test;
}

Outcome run(const Case& test, EmulatedKernel& kernel, ThreadOrder order) {
  std::vector<EmulatedArgument> arguments = test.arguments;
  Outcome outcome;
  outcome.report =
      kernel.run(test.launch, arguments, {.order = order, .seed = 7, .time_limit_seconds = kSeconds});
  const std::vector<float> got = values_of<float>(arguments[test.result].bytes);
  double magnitude = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    magnitude = std::max(magnitude, std::abs(test.expected[i]));
    const double error = std::abs(double(got[i]) - test.expected[i]);
    outcome.error =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(outcome.error, error);
  }
  outcome.error /= magnitude;
  return outcome;
}

std::string what_is_wrong(const Case& test, const std::string& text, bool checked) {
  EmulationOptions options;
  options.checked = checked;
  options.dynamic_shared_bytes = test.launch.dynamic_shared_bytes;
  EmulatedKernel kernel(text, test.kernel, test.file, options);
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  if (!kernel.compiled()) return "";
  for (const ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Backward, ThreadOrder::Random}) {
    const Outcome outcome = run(test, kernel, order);
    if (outcome.right()) continue;
    return fmt::format("{}: error {}\n{}", order_name(order), outcome.error, outcome.report.text());
  }
  return "";
}

EmulationReport run_text(const std::string& text, std::vector<EmulatedArgument>& arguments, unsigned threads,
                         size_t dynamic_shared_bytes, unsigned blocks, ThreadOrder order) {
  EmulationOptions options;
  options.dynamic_shared_bytes = dynamic_shared_bytes;
  EmulatedKernel kernel(text, "test", "test.cu", options);
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  if (!kernel.compiled()) return {};
  return kernel.run({{blocks, 1, 1}, {threads, 1, 1}, dynamic_shared_bytes}, arguments,
                    {.order = order, .seed = 7, .time_limit_seconds = kSeconds});
}

}  // namespace tunesmith::testing
