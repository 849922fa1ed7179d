#include "measure/verify_outputs.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/interp/tensor.h"

namespace tunesmith {
namespace {

std::string position_text(const BufferNode& buffer, int64_t position) {
  std::vector<int64_t> indices(buffer.shape.size());
  for (size_t d = buffer.shape.size(); d-- > 0;) {
    indices[d] = position % buffer.shape[d];
    position /= buffer.shape[d];
  }
  return fmt::format("{}[{}]", buffer.name, fmt::join(indices, ", "));
}

double excess(double got, double wanted, double tolerance) {
  if (std::isnan(wanted) || std::isinf(wanted)) {
    const bool same = std::isnan(wanted) ? std::isnan(got) : got == wanted;
    return same ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (!std::isfinite(got)) return std::numeric_limits<double>::infinity();
  const double error = std::abs(got - wanted);
  return error == 0.0 ? 0.0 : error / tolerance;
}

}  // namespace

Comparison compare_output(const BufferNode& buffer, const void* values, const void* reference,
                          const double* magnitude, double unit) {
  Tensor got = Tensor::like(buffer);
  std::memcpy(got.bytes.data(), values, got.bytes.size());
  Comparison result;
  const auto note = [&](int64_t i, double over, double is, double should) {
    if (over <= result.worst) return;
    result.worst = over;
    if (over > 1.0) {
      result.message = fmt::format("{} is {}, reference {}", position_text(buffer, i), is, should);
    }
  };
  if (!buffer.dtype.is_float()) {
    Tensor wanted = Tensor::like(buffer);
    std::memcpy(wanted.bytes.data(), reference, wanted.bytes.size());
    for (int64_t i = 0; i < got.elements(); ++i) {
      const bool same = got.get_int(i) == wanted.get_int(i);
      if (!same) note(i, std::numeric_limits<double>::infinity(), got.get(i), wanted.get(i));
    }
    return result;
  }
  const auto* wanted = static_cast<const double*>(reference);
  // A result below the type's normal range has an absolute error of its own.
  const double smallest = buffer.dtype.bits == 64 ? 1e-307 : (buffer.dtype == kF16 ? 1e-4 : 1e-37);
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double is = got.get(i);
    // One that overflowed says nothing about the error; the value itself stands in.
    const double scale = std::isfinite(magnitude[i]) ? magnitude[i] : std::abs(wanted[i]);
    note(i, excess(is, wanted[i], unit * scale + smallest), is, wanted[i]);
  }
  return result;
}

}  // namespace tunesmith
