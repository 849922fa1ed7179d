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

/// Where two values lie and how far apart; the worst of an output so far.
class Worst {
 public:
  explicit Worst(const BufferNode& buffer) : buffer_(buffer) {}

  double over() const { return comparison_.worst; }
  Comparison take() { return std::move(comparison_); }

  void note(int64_t position, double over, double is, double should) {
    if (over <= comparison_.worst) return;
    comparison_.worst = over;
    if (over > 1.0) {
      comparison_.message =
          fmt::format("{} is {}, reference {}", position_text(buffer_, position), is, should);
    }
  }

 private:
  const BufferNode& buffer_;
  Comparison comparison_;
};

/// `got`: the element at a position, as f64.
template <typename Got>
Comparison compare_floats(const BufferNode& buffer, const Got& got, const double* wanted,
                          const double* magnitude, double unit) {
  // A result below the type's normal range has an absolute error of its own.
  const double smallest = buffer.dtype.bits == 64 ? 1e-307 : (buffer.dtype == kF16 ? 1e-4 : 1e-37);
  Worst worst(buffer);
  const int64_t count = buffer.elements();
  for (int64_t i = 0; i < count; ++i) {
    const double is = got(i);
    // Nearly all elements are no worse than one before; what is not finite never passes here.
    if (std::abs(is - wanted[i]) <= worst.over() * (unit * magnitude[i] + smallest) &&
        std::isfinite(magnitude[i]))
      continue;
    // A magnitude that overflowed says nothing about the error; the value itself stands in.
    const double scale = std::isfinite(magnitude[i]) ? magnitude[i] : std::abs(wanted[i]);
    worst.note(i, excess(is, wanted[i], unit * scale + smallest), is, wanted[i]);
  }
  return worst.take();
}

}  // namespace

Comparison compare_output(const BufferNode& buffer, const void* values, const void* reference,
                          const double* magnitude, double unit) {
  const auto* wanted = static_cast<const double*>(reference);
  if (buffer.dtype == kF32) {
    const auto* got = static_cast<const float*>(values);
    return compare_floats(buffer, [got](int64_t i) { return double{got[i]}; }, wanted, magnitude, unit);
  }
  Tensor got = Tensor::like(buffer);
  std::memcpy(got.bytes.data(), values, got.bytes.size());
  if (buffer.dtype.is_float())
    return compare_floats(buffer, [&got](int64_t i) { return got.get(i); }, wanted, magnitude, unit);
  Tensor exact = Tensor::like(buffer);
  std::memcpy(exact.bytes.data(), reference, exact.bytes.size());
  Worst worst(buffer);
  for (int64_t i = 0; i < got.elements(); ++i) {
    const bool same = got.get_int(i) == exact.get_int(i);
    if (!same) worst.note(i, std::numeric_limits<double>::infinity(), got.get(i), exact.get(i));
  }
  return worst.take();
}

}  // namespace tunesmith
