#include "tunesmith/verification/verify_outputs.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The smallest number with a finite reciprocal in f32; this bound tells the largest denormals from zero.
constexpr double kSmallest = 3e-39;
/// A target may flush denormals of bf16 to zero.
constexpr double kSmallestBF16 = 2.0 * 0x1p-126;
constexpr double kSmallestWide = 1e-320;
constexpr int64_t kBlock = 4096;  // elements compared between two looks at the result

const double* numbers(const Tensor& tensor) { return reinterpret_cast<const double*>(tensor.bytes.data()); }

std::string position_text(const BufferNode& buffer, int64_t position) {
  std::vector<int64_t> indices(buffer.shape.size());
  for (size_t d = buffer.shape.size(); d-- > 0;) {
    indices[d] = position % buffer.shape[d];
    position /= buffer.shape[d];
  }
  return fmt::format("{}[{}]", buffer.name, fmt::join(indices, ", "));
}

/// All values of a 16-bit type as floats, indexed by their bits.
const float* widened_values(DType type) {
  static const auto make = [](DType of) {
    std::vector<float> table(65536);
    Tensor one = Tensor::zeros(of, {1});
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto narrow = static_cast<uint16_t>(bits);
      std::memcpy(one.bytes.data(), &narrow, sizeof narrow);
      table[bits] = static_cast<float>(one.get(0));
    }
    return table;
  };
  static const std::vector<float> f16 = make(kF16);
  static const std::vector<float> bf16 = make(kBF16);
  return (type == kF16 ? f16 : bf16).data();
}

/// GCC 12 does not vectorise the loop over these by itself; every processor has vectors of 16 bytes.
using Floats = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));
constexpr int64_t kComparedLanes = 4;

Floats floats_at(const float* values) {
  Floats floats;
  std::memcpy(&floats, values, sizeof floats);
  return floats;
}

/// Errors divided by bounds, as the bits of floats, which order like the
/// numbers with NaN above all. Expected infinities and NaNs have no error.
Ints error_bits(Floats is, Floats should, Floats inverse) {
  const Ints same = (is == should) | ((is != is) & (should != should));
  const auto difference = std::bit_cast<Floats>(std::bit_cast<Ints>(is - should) & 0x7fffffff);
  return std::bit_cast<Ints>(difference * inverse) & ~same;
}

/// The maximum over [0, count); `got` returns kComparedLanes values from a position, or one.
template <typename Got>
int32_t worst_bits(const Got& got, const float* wanted, const float* inverse, int64_t count) {
  Ints lanes{};
  const auto take = [&lanes](Ints bits) { lanes = bits > lanes ? bits : lanes; };
  int64_t i = 0;
  for (; i + kComparedLanes <= count; i += kComparedLanes)
    take(error_bits(got(i), floats_at(wanted + i), floats_at(inverse + i)));
  for (; i < count; ++i) take(error_bits(Floats{got.one(i)}, Floats{wanted[i]}, Floats{inverse[i]}));
  return std::max({lanes[0], lanes[1], lanes[2], lanes[3]});
}

struct WideValues {
  const float* values;
  Floats operator()(int64_t i) const { return floats_at(values + i); }
  float one(int64_t i) const { return values[i]; }
};

struct NarrowValues {
  const uint16_t* values;
  const float* table;
  Floats operator()(int64_t i) const { return Floats{one(i), one(i + 1), one(i + 2), one(i + 3)}; }
  float one(int64_t i) const { return table[values[i]]; }
};

int32_t worst_of(DType type, const void* values, const float* wanted, const float* inverse, int64_t begin,
                 int64_t end) {
  if (type.bits == 32) {
    const WideValues got{static_cast<const float*>(values) + begin};
    return worst_bits(got, wanted + begin, inverse + begin, end - begin);
  }
  const NarrowValues got{static_cast<const uint16_t*>(values) + begin, widened_values(type)};
  return worst_bits(got, wanted + begin, inverse + begin, end - begin);
}

struct Search {
  DType type;
  const void* values;
  const float* wanted;
  const float* inverse;
  int64_t count;
  std::atomic<int32_t> worst{0};
};

void search_blocks(void* closure, int64_t begin, int64_t end) {
  auto& search = *static_cast<Search*>(closure);
  const int32_t worst = worst_of(search.type, search.values, search.wanted, search.inverse, begin * kBlock,
                                 std::min(end * kBlock, search.count));
  int32_t before = search.worst.load();
  while (worst > before && !search.worst.compare_exchange_weak(before, worst)) {
  }
}

template <typename T>
void put(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> take(const std::string& bytes, size_t& at, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  check_invariant(at + values.size() * sizeof(T) <= bytes.size(), "a reference result fits its buffer");
  std::memcpy(values.data(), bytes.data() + at, values.size() * sizeof(T));
  at += values.size() * sizeof(T);
  return values;
}

bool is_narrow(DType type) { return type.is_float() && type.bits <= 32; }

}  // namespace

ExpectedOutput::ExpectedOutput(Buffer buffer, const Tensor& value, const Tensor* bound)
    : buffer_(std::move(buffer)) {
  const int64_t count = value.elements();
  const DType type = buffer_->dtype;
  if (!type.is_float() && bound == nullptr) {
    exact_.assign(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    return;
  }
  if (is_narrow(type)) {
    narrow_.reserve(static_cast<size_t>(count));
    narrow_inverse_.reserve(static_cast<size_t>(count));
  }
  for (int64_t i = 0; i < count; ++i) {
    const double wanted = type.is_float() ? numbers(value)[i] : value.get(i);
    const double allowed = bound == nullptr ? 0.0 : numbers(*bound)[i];
    if (is_narrow(type)) {
      const auto nearest = static_cast<float>(wanted);
      const double off = std::isfinite(nearest) ? std::abs(wanted - double{nearest}) : 0.0;
      narrow_.push_back(nearest);
      const double smallest = type.scalar() == kBF16 ? kSmallestBF16 : kSmallest;
      narrow_inverse_.push_back(static_cast<float>(1.0 / (allowed + off + smallest)));
    } else {
      wide_.push_back(wanted);
      wide_bound_.push_back(allowed + kSmallestWide);
    }
  }
}

ExpectedOutput::ExpectedOutput(Buffer buffer, const std::string& bytes) : buffer_(std::move(buffer)) {
  const int64_t count = buffer_->elements();
  check_invariant(!bytes.empty(), "a reference result says what it is");
  size_t at = 1;
  switch (bytes.front()) {
    case 'n':
      narrow_ = take<float>(bytes, at, count);
      narrow_inverse_ = take<float>(bytes, at, count);
      break;
    case 'w':
      wide_ = take<double>(bytes, at, count);
      wide_bound_ = take<double>(bytes, at, count);
      break;
    default:
      exact_ = bytes.substr(1);
      check_invariant(static_cast<int64_t>(exact_.size()) == count * buffer_->dtype.bytes(),
                      "a reference result fits its buffer");
  }
}

std::string ExpectedOutput::bytes() const {
  std::string bytes(1, !narrow_.empty() ? 'n' : !wide_.empty() ? 'w' : 'e');
  put(bytes, narrow_);
  put(bytes, narrow_inverse_);
  put(bytes, wide_);
  put(bytes, wide_bound_);
  return bytes + exact_;
}

bool ExpectedOutput::fits(const BufferNode& buffer, const std::string& bytes) {
  const auto count = static_cast<uint64_t>(buffer.elements());
  const DType type = buffer.dtype;
  if (bytes.empty()) return false;
  const uint64_t size = bytes.size() - 1;
  switch (bytes.front()) {
    case 'n':
      return is_narrow(type) && size == 2 * sizeof(float) * count;
    case 'w':
      return !is_narrow(type) && size == 2 * sizeof(double) * count;
    case 'e':
      return !type.is_float() && size == count * static_cast<uint64_t>(type.bytes());
    default:
      return false;
  }
}

uint64_t ExpectedOutput::max_bytes(const BufferNode& buffer) {
  const uint64_t element = 2 * (is_narrow(buffer.dtype) ? sizeof(float) : sizeof(double));
  return 1 + element * static_cast<uint64_t>(buffer.elements());
}

OutputDifference ExpectedOutput::compare(const void* values, tunesmith_runtime_pool* pool) const {
  if (buffer_->strides.empty()) return compare_elements(values, pool);
  const Tensor elements = load_from(*buffer_, static_cast<const std::byte*>(values));
  return compare_elements(elements.bytes.data(), pool);
}

OutputDifference ExpectedOutput::compare_elements(const void* values, tunesmith_runtime_pool* pool) const {
  if (!exact_.empty()) {
    if (std::memcmp(values, exact_.data(), exact_.size()) == 0) return {};
    return find_worst(values);
  }
  if (narrow_.empty()) return find_worst(values);
  Search search{buffer_->dtype, values, narrow_.data(), narrow_inverse_.data(), buffer_->elements()};
  tunesmith_runtime_parallel_for(pool, (search.count + kBlock - 1) / kBlock, search_blocks, &search);
  const float worst = std::bit_cast<float>(search.worst.load());
  if (worst <= 1.0f) return {worst, ""};
  return find_worst(values);
}

double ExpectedOutput::wanted(int64_t position) const {
  return narrow_.empty() ? wide_[static_cast<size_t>(position)]
                         : double{narrow_[static_cast<size_t>(position)]};
}

double ExpectedOutput::tolerance(int64_t position) const {
  return narrow_.empty() ? wide_bound_[static_cast<size_t>(position)]
                         : 1.0 / double{narrow_inverse_[static_cast<size_t>(position)]};
}

OutputDifference ExpectedOutput::find_worst(const void* values) const {
  Tensor got = Tensor::like(*buffer_);
  std::memcpy(got.bytes.data(), values, got.bytes.size());
  Tensor exact = got;
  if (!exact_.empty()) std::memcpy(exact.bytes.data(), exact_.data(), exact_.size());
  OutputDifference comparison;
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double is = got.get(i);
    const double should = exact_.empty() ? wanted(i) : exact.get(i);
    double over = 0.0;
    if (!exact_.empty()) {
      over = got.get_int(i) == exact.get_int(i) ? 0.0 : kInfinity;
    } else if (!std::isfinite(should)) {
      over = (std::isnan(should) ? std::isnan(is) : is == should) ? 0.0 : kInfinity;
    } else {
      over = std::isfinite(is) ? std::abs(is - should) / tolerance(i) : kInfinity;
    }
    if (over <= comparison.worst) continue;
    comparison.worst = over;
    if (over > 1.0)
      comparison.message = fmt::format("{} is {}, reference {}", position_text(*buffer_, i), is, should);
  }
  return comparison;
}

double looseness(const Tensor& value, const Tensor* bound) {
  if (bound == nullptr) return 0.0;
  double bounds = 0.0;
  double values = 0.0;
  for (int64_t i = 0; i < value.elements(); ++i) {
    const double v = value.dtype == kF64 ? numbers(value)[i] : value.get(i);
    if (!std::isfinite(v)) continue;
    const double e = numbers(*bound)[i];
    if (!std::isfinite(e)) return kInfinity;
    bounds += e * e;
    values += v * v;
  }
  if (bounds == 0.0) return 0.0;
  return values > 0.0 ? std::sqrt(bounds / values) : kInfinity;
}

bool all_finite(const Tensor& value) {
  if (!value.dtype.is_float()) return true;
  return std::all_of(numbers(value), numbers(value) + value.elements(),
                     [](double element) { return std::isfinite(element); });
}

}  // namespace tunesmith
