#include "tunesmith/verification/edges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "tunesmith/support/hash.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

/// One slice in this many has edges.
constexpr uint64_t kSliceEvery = 8;

/// One in this many tiny slices is zero: beside zeros, a denormal is visible in a sum.
constexpr uint64_t kTinyZeroEvery = 4;

/// Yields the slice of each element in turn.
class SliceCursor {
 public:
  SliceCursor(const Tensor& data, const std::vector<bool>& carried)
      : shape_(data.shape), steps_(data.shape.size(), 0), at_(data.shape.size(), 0) {
    int64_t step = 1;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      if (!carried[axis]) continue;
      steps_[axis] = step;
      step *= shape_[axis];
    }
  }
  int64_t slice() const { return slice_; }
  void next() {
    for (size_t axis = shape_.size(); axis-- > 0;) {
      slice_ += steps_[axis];
      if (++at_[axis] < shape_[axis]) return;
      slice_ -= steps_[axis] * shape_[axis];
      at_[axis] = 0;
    }
  }

 private:
  const std::vector<int64_t>& shape_;
  std::vector<int64_t> steps_;
  std::vector<int64_t> at_;
  int64_t slice_ = 0;
};

/// A random value of the type; half of the time one at the ends of its range.
double any_value(RandomStream& random, const FloatRange& range, const Edges& edges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double sign = random.below(2) == 0 ? 1.0 : -1.0;
  if (random.below(2) == 0) {
    const auto exponents = static_cast<uint64_t>(range.max_exponent - range.min_exponent);
    const int exponent = range.min_exponent + static_cast<int>(random.below(exponents));
    return sign * std::ldexp(1.0 + random.uniform(), exponent);
  }
  const double normal = std::ldexp(1.0, range.min_exponent);
  std::vector<double> ends{0.0, 1.0, normal, range.largest, kInfinity};
  if (edges.denormals) ends.insert(ends.end(), {range.smallest, normal - range.smallest, 0.75 * normal});
  if (edges.nans) ends.push_back(std::numeric_limits<double>::quiet_NaN());
  return sign * ends[random.below(ends.size())];
}

/// Chooses which slices are scaled, and by which power of two: every second one as far up as allowed, the
/// others by all scales in turn from the smallest, since a unit may fail in a part of its type's range only.
class Scales {
 public:
  Scales(const SliceInput& input, double share, EdgePart part, uint64_t slices, uint64_t seed)
      : every_(part == EdgePart::Slices ? kSliceEvery : 1),
        scaled_(slices / every_),
        first_(part == EdgePart::Small ? 1 : 0),
        seed_(seed),
        above_(std::max<int64_t>(1, std::llround(std::ceil(share * static_cast<double>(input.exponents))))),
        below_(input.added ? above_ : above_ / 2),
        added_(input.added) {}

  std::optional<int> of(uint64_t slice) const {
    const uint64_t group = slice / every_;
    if (group >= scaled_ || slice % every_ != hash_combine(seed_, group) % every_) return std::nullopt;
    const uint64_t turn = (group + hash_combine(seed_, scaled_)) % scaled_ + first_;
    if (turn % 2 == 0) return static_cast<int>(above_);
    if (added_) return static_cast<int>(-below_);
    const uint64_t steps = std::max<uint64_t>(scaled_ / 2, 1);
    const auto range = static_cast<uint64_t>(above_ + below_);
    return static_cast<int>(turn / 2 % steps * range / steps) - static_cast<int>(below_);
  }

 private:
  const uint64_t every_;
  const uint64_t scaled_;
  const uint64_t first_;
  const uint64_t seed_;
  const int64_t above_;
  const int64_t below_;
  const bool added_;
};

/// Powers of two up to `bits` bits, and their neighbours.
std::vector<int64_t> integer_ends(int bits) {
  std::vector<int64_t> ends{0, 1, -1};
  for (const int power : {7, 8, 15, 16, 24, 31, 32, 53}) {
    if (power >= bits) continue;
    const int64_t value = int64_t{1} << power;
    ends.insert(ends.end(), {value, value - 1, value + 1, -value, -value - 1, 1 - value});
  }
  const int64_t most = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  ends.insert(ends.end(), {most, most - 1, -most, -most - 1});
  return ends;
}

}  // namespace

std::string Edges::text() const {
  std::vector<std::string> parts;
  if (any_value) parts.emplace_back("any value of the type");
  if (!any_value && share > 0.0)
    parts.push_back(fmt::format("scaled by up to {:.2g} of the exponents", share));
  if (parts.empty()) {
    return integer_bits > 0 ? fmt::format("integers of up to {} bits", integer_bits) : std::string();
  }
  std::string text = parts.front();
  if (denormals) text += ", denormals";
  text += draws > 0 ? fmt::format(" in {} more draws", draws)
                    : fmt::format(" in a {}th of the slices", kSliceEvery);
  if (integer_bits > 0) text += fmt::format(", integers of up to {} bits", integer_bits);
  return text;
}

FloatRange float_range(DType type) {
  if (type.scalar() == kF16) return {-14, 15, 65504.0, 0x1p-24};
  if (type.scalar() == kBF16) return {-126, 127, 0x1.FEp127, 0x1p-133};
  if (type.bits == 32)
    return {-126, 127, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()};
  return {-1022, 1023, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()};
}

int64_t slices_of(const Tensor& data, const std::vector<bool>& carried) {
  int64_t slices = 1;
  for (size_t axis = 0; axis < data.shape.size(); ++axis) slices *= carried[axis] ? data.shape[axis] : 1;
  return slices;
}

void add_edges(Tensor& data, const Edges& edges, EdgePart part, const SliceInput& input, uint64_t seed) {
  if (part == EdgePart::None || !edges.in_floats()) return;
  const FloatRange range = float_range(data.dtype);
  const auto slices = static_cast<uint64_t>(slices_of(data, input.carried));
  if (part == EdgePart::Slices && slices < 2 * kSliceEvery) return;
  RandomStream values(seed, 1);
  const Scales scales(input, edges.share, part, slices, seed);
  const auto is_zero = [&](uint64_t slice) {
    return slices >= 2 * kTinyZeroEvery && slice / 2 % kTinyZeroEvery == 0;
  };
  SliceCursor cursor(data, input.carried);
  for (int64_t i = 0; i < data.elements(); ++i, cursor.next()) {
    const auto slice = static_cast<uint64_t>(cursor.slice());
    if (part == EdgePart::Tiny) {
      if (input.added || (cursor.slice() + input.position) % 2 == 0)
        data.set(i, is_zero(slice) ? 0.0 : std::ldexp(data.get(i), range.min_exponent));
      continue;
    }
    const std::optional<int> scale = scales.of(slice);
    if (!scale) continue;
    if (edges.any_value) {
      data.set(i, any_value(values, range, edges));
    } else {
      const bool negative = edges.signs && hash_combine(seed, slice + 1) % 2 == 0;
      data.set(i, std::ldexp(negative ? -data.get(i) : data.get(i), *scale));
    }
  }
}

void draw_wide_integers(Tensor& data, const Edges& edges, int64_t most_terms, uint64_t seed) {
  RandomStream random(seed);
  const int bits = static_cast<int>(std::min<int64_t>(data.dtype.bits, edges.integer_bits));
  const bool is_signed = data.dtype.code == TypeCode::Int;
  const std::vector<int64_t> ends =
      is_signed ? integer_ends(bits)
                : std::vector<int64_t>{0, 1, 127, 128, static_cast<int64_t>(~uint64_t{0} >> (64 - bits))};
  const auto end_every = static_cast<uint64_t>(std::max<int64_t>(8, most_terms / 4));
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (data.dtype.is_bool()) {
      data.set_int(i, static_cast<int64_t>(random.below(2)));
      continue;
    }
    if (random.below(end_every) == 0) {
      data.set_int(i, ends[random.below(ends.size())]);
      continue;
    }
    // The number of bits is random; most values have all of them.
    const int length =
        random.below(4) == 0 ? 1 + static_cast<int>(random.below(static_cast<uint64_t>(bits))) : bits;
    const uint64_t drawn = random.next();
    data.set_int(i, is_signed ? static_cast<int64_t>(drawn) >> (64 - length)
                              : static_cast<int64_t>(drawn >> (64 - length)));
  }
}

std::vector<std::string> not_exercised(const Program& program, const EdgeTraits& traits, const Edges& edges) {
  const auto any_input = [&](const auto& holds) {
    return std::ranges::any_of(program.inputs, [&](const Buffer& input) { return holds(input->dtype); });
  };
  const bool has_floats = any_input([](DType type) { return type.is_float(); });
  const bool has_wide_integers = any_input([](DType type) { return type.is_int() && type.bits > 8; });
  std::vector<std::string> left;
  if (has_wide_integers && edges.integer_bits < 64) {
    left.push_back(fmt::format("integers of more than {} bits: rounding would hide other terms",
                               std::max<int64_t>(edges.integer_bits, 10)));
  }
  if (!has_floats) return left;
  if (!edges.in_floats()) {
    left.emplace_back(
        "magnitudes above those of the plain data: they overflow, hide other terms, or would need "
        "too much memory for a draw of their own");
  }
  if (traits.rounds || !edges.any_value) {
    left.emplace_back("infinities and NaN: the workload rounds, and its sums have no value there");
  } else if (!edges.nans) {
    left.emplace_back("NaN: what is reduced of them depends on the order");
  }
  if (!edges.denormals) {
    left.emplace_back(!traits.keeps_denormals
                          ? "denormals: a target may take them for zero, or they are divisors"
                      : edges.in_floats() && edges.draws == 0
                          ? "denormals: the data are also those of the timed calls, which they slow down"
                          : "denormals: bounds would be too wide for them");
  }
  return left;
}

}  // namespace tunesmith
