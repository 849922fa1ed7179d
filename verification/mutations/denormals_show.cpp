#include "tunesmith/verification/denormals_show.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

/// The exponent of the smallest normal number.
int min_exponent(DType type) {
  if (type.scalar() == kF16) return -14;
  return type.bits == 64 ? -1022 : -126;
}

std::vector<Tensor> run(const Program& program, std::vector<Tensor> inputs) {
  for (const Buffer& output : program.outputs) inputs.push_back(Tensor::like(*output));
  interpret(program, inputs);
  return {inputs.begin() + static_cast<std::ptrdiff_t>(program.inputs.size()), inputs.end()};
}

/// Do they differ by more than rounding to the type?
bool differ(const Tensor& a, const Tensor& b) {
  if (!a.dtype.is_float()) return a != b;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.get(i);
    const double y = b.get(i);
    const double roundings = 4.0 * unit_roundoff(a.dtype) * std::max(std::abs(x), std::abs(y));
    if (std::isnan(x) != std::isnan(y) || std::abs(x - y) > roundings) return true;
  }
  return false;
}

}  // namespace

bool denormals_show(const Program& right, const Program& mutant) {
  std::vector<Tensor> ordinary;
  for (const Buffer& input : right.inputs) {
    ordinary.push_back(Tensor::like(*input));
    ordinary.back().fill_random(ordinary.size());
  }
  for (size_t tiny = 0; tiny < ordinary.size(); ++tiny) {
    if (!ordinary[tiny].dtype.is_float()) continue;
    std::vector<Tensor> inputs = ordinary;
    Tensor& data = inputs[tiny];
    for (int64_t i = 0; i < data.elements(); ++i)
      data.set(i, std::ldexp(data.get(i), min_exponent(data.dtype)));
    const std::vector<Tensor> wanted = run(right, inputs);
    const std::vector<Tensor> got = run(mutant, inputs);
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (differ(wanted[i], got[i])) return true;
    }
  }
  return false;
}

}  // namespace tunesmith
