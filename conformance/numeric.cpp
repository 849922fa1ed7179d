#include "numeric.h"

#include <cmath>

#include <fmt/format.h>

namespace tunesmith::conformance {
namespace {

/// Half-precision programs add at most some hundred terms here.
double tolerance_of(DType dtype) {
  if (!dtype.is_float()) return 0.0;
  return dtype.bits < 32 ? 5e-2 : 1e-4;
}

}  // namespace

std::vector<Tensor> arguments_of(const Program& program, uint64_t seed) {
  std::vector<Tensor> arguments;
  for (const Buffer& input : program.inputs) {
    arguments.push_back(Tensor::like(*input));
    arguments.back().fill_random(seed + arguments.size());
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  return arguments;
}

std::vector<Tensor> result_of(const Program& program, std::vector<Tensor> arguments,
                              const InterpretOptions& options) {
  interpret(program, arguments, options);
  return arguments;
}

std::vector<Tensor> result_of(const LoweredProgram& lowered, std::vector<Tensor> arguments,
                              const InterpretOptions& options) {
  interpret(lowered, arguments, options);
  return arguments;
}

std::string difference(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got, size_t inputs) {
  for (size_t t = inputs; t < wanted.size(); ++t) {
    const double tolerance = tolerance_of(wanted[t].dtype);
    for (int64_t i = 0; i < wanted[t].elements(); ++i) {
      const double a = wanted[t].get(i);
      const double b = got[t].get(i);
      const bool same =
          (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= tolerance * (1.0 + std::abs(a));
      if (!same) return fmt::format("element {} of output {} is {}, wanted {}", i, t - inputs, b, a);
    }
  }
  return {};
}

}  // namespace tunesmith::conformance
