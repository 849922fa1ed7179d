#include "tunesmith/verification/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tunesmith/ir/fold.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

template <typename T>
T read(const Tensor& tensor, int64_t position) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(position) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void write(Tensor& tensor, int64_t position, T value) {
  std::memcpy(tensor.bytes.data() + static_cast<size_t>(position) * sizeof(T), &value, sizeof(T));
}

/// The bits of a value that f16 represents.
uint16_t f16_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent));  // 1024 .. 2047
  return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | (fraction & 0x3ff));
}

double f16_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace

Tensor Tensor::zeros(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(static_cast<size_t>(tensor.elements()) * static_cast<size_t>(dtype.bytes()));
  return tensor;
}

Tensor Tensor::like(const BufferNode& buffer) { return zeros(buffer.dtype, buffer.shape); }

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

double Tensor::get(int64_t position) const {
  if (!dtype.is_float()) return int_to_float(get_int(position), dtype, kF64);
  if (dtype.code == TypeCode::BFloat) {
    return std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(*this, position)) << 16);
  }
  switch (dtype.bits) {
    case 16:
      return f16_value(read<uint16_t>(*this, position));
    case 32:
      return read<float>(*this, position);
    default:
      return read<double>(*this, position);
  }
}

void Tensor::set(int64_t position, double value) {
  if (!dtype.is_float()) return set_int(position, float_to_int(value, dtype));
  const double rounded = round_to(dtype, value);
  if (dtype.code == TypeCode::BFloat) {
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(rounded));
    return write(*this, position, static_cast<uint16_t>(bits >> 16));
  }
  switch (dtype.bits) {
    case 16:
      return write(*this, position, f16_bits(rounded));
    case 32:
      return write(*this, position, static_cast<float>(rounded));
    default:
      return write(*this, position, rounded);
  }
}

int64_t Tensor::get_int(int64_t position) const {
  check_invariant(!dtype.is_float(), "get_int is for integers and bools");
  switch (dtype.bits) {
    case 64:
      return read<int64_t>(*this, position);
    case 32:
      return wrap_to(dtype, read<int32_t>(*this, position));
    case 16:
      return wrap_to(dtype, read<int16_t>(*this, position));
    default:
      return dtype.code == TypeCode::Int ? read<int8_t>(*this, position) : read<uint8_t>(*this, position);
  }
}

void Tensor::set_int(int64_t position, int64_t value) {
  check_invariant(!dtype.is_float(), "set_int is for integers and bools");
  const int64_t wrapped = wrap_to(dtype, value);
  switch (dtype.bits) {
    case 64:
      return write(*this, position, wrapped);
    case 32:
      return write(*this, position, static_cast<int32_t>(wrapped));
    case 16:
      return write(*this, position, static_cast<int16_t>(wrapped));
    default:
      return write(*this, position, static_cast<uint8_t>(wrapped));
  }
}

void Tensor::fill_random(uint64_t seed) {
  RandomStream random(seed);
  const int64_t count = elements();
  for (int64_t i = 0; i < count; ++i) {
    if (dtype.is_float()) {
      set(i, 2 * random.uniform() - 1);
    } else if (dtype.bits <= 8) {
      set_int(i, static_cast<int64_t>(random.below(dtype.is_bool() ? 2 : 256)));
    } else {
      set_int(i, static_cast<int64_t>(random.below(2001)) - 1000);
    }
  }
}

void visit_runs(const BufferNode& buffer, const std::function<void(const ElementRun&)>& visit) {
  const std::vector<int64_t> strides = buffer.effective_strides();
  size_t rank = buffer.shape.size();
  int64_t together = 1;
  while (rank > 0 && strides[rank - 1] == together) together *= buffer.shape[--rank];
  const int64_t runs = buffer.elements() / together;
  for (int64_t i = 0; i < runs; ++i) {
    int64_t begin = 0;
    int64_t rest = i;
    for (size_t d = rank; d-- > 0; rest /= buffer.shape[d]) begin += rest % buffer.shape[d] * strides[d];
    visit({i * together, begin, together});
  }
}

void store_in(const BufferNode& buffer, const Tensor& tensor, std::byte* memory) {
  const int64_t size = buffer.dtype.bytes();
  visit_runs(buffer, [&](const ElementRun& run) {
    std::memcpy(memory + run.begin * size, tensor.bytes.data() + run.element * size,
                static_cast<size_t>(run.count * size));
  });
}

Tensor load_from(const BufferNode& buffer, const std::byte* memory) {
  Tensor tensor = Tensor::like(buffer);
  const int64_t size = buffer.dtype.bytes();
  visit_runs(buffer, [&](const ElementRun& run) {
    std::memcpy(tensor.bytes.data() + run.element * size, memory + run.begin * size,
                static_cast<size_t>(run.count * size));
  });
  return tensor;
}

double max_error(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.dtype != b.dtype || a.shape != b.shape) return kInfinity;
  double worst = 0;
  const int64_t count = a.elements();
  for (int64_t i = 0; i < count; ++i) {
    // Neighbouring integers may be equal as floats.
    const bool integers = !a.dtype.is_float();
    if (integers && a.get_int(i) == b.get_int(i)) continue;
    const double x = a.get(i);
    const double y = b.get(i);
    if (integers) {
      worst = std::max({worst, 1.0, std::abs(x - y)});
      continue;
    }
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::isnan(x) || std::isnan(y)) return kInfinity;
    worst = std::max(worst, std::abs(x - y));
  }
  return worst;
}

}  // namespace tunesmith
