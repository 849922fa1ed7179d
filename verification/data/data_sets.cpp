#include "tunesmith/verification/data_sets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/hash.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

struct Background {
  double value;
  double noise;
};
// Backgrounds whose elements differ come first; the last value's exponential is 0 in every floating type.
constexpr std::array<Background, 4> kNoisy{{{0.0, 0x1p-6}, {0.0, 0.0}, {-12.0, 1.0}, {-1024.0, 0.0}}};
constexpr std::array<Background, 2> kPlain{{{0.0, 0.0}, {-1024.0, 0.0}}};
constexpr double kPartOfTerm = 0.25;
constexpr double kTight = 1e-4;  // in sums of thousands of terms, a quarter of one term is smaller

constexpr int64_t kLevels = 5;  // number of different levels of a noisy background

constexpr int64_t kMaxBalanced = 256;  // the narrowest type counts exactly up to here
constexpr int64_t kMinBalanced = 4;
constexpr int64_t kMinDraws = 4;  // for balanced rows: in one draw, some neighbours are equal

/// In a row of this length, one of `every` is nonzero, or `few` in total.
struct Balance {
  int64_t every = 1;
  int64_t few = 0;
};

std::optional<Balance> balance_of(int64_t row) {
  Balance balance;
  while (row / balance.every > kMaxBalanced) balance.every *= 4;
  const auto divides = [&](int64_t part) { return row % (2 * part) == 0; };
  if (!divides(balance.every) || balance.every > kMaxDraws) return std::nullopt;
  int64_t part = balance.every;
  while (divides(4 * part) && row / (4 * part) >= kMinBalanced) part *= 4;
  balance.few = row / part;
  if (balance.few < kMinBalanced) return std::nullopt;
  return balance;
}

/// The step is near the golden section of `row`, so that its multiples are far apart and distinct.
int64_t step_through(int64_t row) {
  auto step = static_cast<int64_t>(0.618 * static_cast<double>(row));
  while (std::gcd(step, row) != 1) ++step;
  return step;
}

void draw_balanced(Tensor& data, int64_t row, uint64_t seed, int64_t number) {
  const Balance balance = balance_of(row).value();
  RandomStream random(seed, static_cast<uint64_t>(number));
  for (int64_t i = 0; i < data.elements(); ++i) data.set(i, 0.0);
  // Rows with few nonzero elements shift their positions, so that together they cover all.
  const int64_t step = step_through(row);
  const int64_t rows_with_few = data.elements() / row / 2;
  int64_t taken = number * rows_with_few * balance.few +
                  static_cast<int64_t>(hash_combine(seed, 0) % static_cast<uint64_t>(row));
  std::vector<int64_t> places;
  for (int64_t begin = 0; begin < data.elements(); begin += row) {
    places.clear();
    if (begin / row % 2 != 0) {
      for (int64_t i = 0; i < balance.few; ++i) places.push_back(begin + taken++ % row * step % row);
    } else {
      for (int64_t first = begin; first < begin + row; first += balance.every) {
        const auto turn = static_cast<int64_t>(hash_combine(seed, static_cast<uint64_t>(first)) %
                                               static_cast<uint64_t>(balance.every));
        places.push_back(first + (turn ^ (number % balance.every)));
      }
    }
    for (size_t i = 0; i < places.size(); ++i) {
      std::swap(places[i], places[i + random.below(places.size() - i)]);
      data.set(places[i], 2 * i < places.size() ? 1.0 : -1.0);
    }
  }
}

/// Exact in bf16; its exponential overflows in f64.
constexpr double kPeak = 1000.0;

/// Raises one element of each row. `number` counts the draws with peaks, from 0.
void raise_peaks(Tensor& data, int64_t row, int64_t number) {
  const int64_t step = step_through(row);
  const int64_t rows = data.elements() / row;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = i * row + row - 1 - (number * rows + i) % row * step % row;
    data.set(at, data.get(at) + kPeak);
  }
}

double real(RandomStream& random, const Fill& fill) {
  constexpr double kOctaves = 0.25;  // a product of 100,000 then stays in the range of f32
  const double value = 2 * random.uniform() - 1;
  if (fill.near_one) return (!fill.positive && random.below(2) == 0 ? -1 : 1) * std::exp2(kOctaves * value);
  return fill.positive ? std::abs(value) + 0.05 : value;
}

/// The level of an element, which differs from that of each neighbour along every axis.
int64_t level_of(int64_t element, const std::vector<int64_t>& shape) {
  int64_t level = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    level += element % shape[axis] * (1 + static_cast<int64_t>(axis) % (kLevels - 1));
    element /= shape[axis];
  }
  return level;
}

/// Neighbours are far apart, so that one does not pass for the other within the tolerance of a narrow type.
double background(RandomStream& random, const Fill& fill, int64_t level) {
  constexpr double kJitter = 0.1;
  const auto at = static_cast<double>(level % kLevels);
  const double apart = fill.positive ? (at + 1) / kLevels : 2 * at / (kLevels - 1) - 1;
  return fill.background + fill.noise * (apart + kJitter * real(random, fill));
}

double integer(RandomStream& random, const Fill& fill) {
  const auto value = static_cast<double>(1 + random.below(static_cast<uint64_t>(fill.largest)));
  return !fill.positive && random.below(2) == 0 ? -value : value;
}

void draw_integers(Tensor& data, RandomStream& random) {
  const bool is_signed = data.dtype.code == TypeCode::Int;
  for (int64_t i = 0; i < data.elements(); ++i) {
    if (data.dtype.is_bool()) {
      data.set_int(i, static_cast<int64_t>(random.below(2)));
    } else {
      data.set_int(
          i, is_signed ? static_cast<int64_t>(random.below(7)) - 3 : static_cast<int64_t>(random.below(4)));
    }
  }
}

}  // namespace

std::string Fill::text() const {
  std::string text = kind == DataKind::Exact ? fmt::format("integers up to {}", largest) : "reals";
  if (positive) text += ", all positive";
  if (near_one) text += ", near one";
  if (balanced) return fmt::format("{}, rows of as many 1 as -1, drawn {} times", text, draws);
  if (terms > 0) text += fmt::format(", {} terms of a sum", terms);
  if (terms > 0) text += fmt::format(", the others {}", background);
  if (noise != 0.0) text += fmt::format(" +- {}", noise);
  if (all_sparse) text += ", of every input";
  if (draws > 1) text += fmt::format(", drawn {} times", draws);
  if (scale != 0.0) text += fmt::format(", scaled by {:.2g} of the exponents", scale);
  if (peaks > 0) text += fmt::format(", of which {} with one of each row higher by {}", peaks, kPeak);
  if (const std::string wide = edges.text(); !wide.empty()) text += "; " + wide;
  return text;
}

EdgePart Fill::edge_part(int64_t number) const {
  if (!edges.in_floats()) return EdgePart::None;
  if (edges.draws == 0) return EdgePart::Slices;
  if (number >= edges.draws || draws <= edges.draws) return EdgePart::None;
  if (number == 0) return EdgePart::Large;
  return number == 1 && edges.denormals ? EdgePart::Tiny : EdgePart::Small;
}

int64_t Fill::plain_number(int64_t number) const {
  return draws <= edges.draws ? number : std::max<int64_t>(number - edges.draws, 0);
}

std::vector<Fill> fills(DataKind kind, int64_t most_terms) {
  std::vector<Fill> result;
  const bool exact = kind == DataKind::Exact;
  const std::vector<int64_t> sparse =
      exact ? std::vector<int64_t>{100, 24, 6} : std::vector<int64_t>{64, 16, 4};
  for (const bool all_sparse : {false, true}) {
    for (const bool positive : {false, true}) {
      Fill fill;
      fill.kind = kind;
      fill.positive = positive;
      if (!all_sparse) {
        result.push_back(fill);
        fill.largest = 1;
        if (exact) result.push_back(fill);
      }
      if (const auto balance = balance_of(most_terms); exact && !all_sparse && !positive && balance) {
        Fill rows = fill;
        rows.largest = 3;
        rows.balanced = true;
        rows.terms = balance->few;
        rows.draws = std::max(balance->every, kMinDraws);
        result.push_back(rows);
      }
      fill.largest = 1;
      fill.all_sparse = all_sparse;
      const std::span<const Background> backgrounds =
          exact ? std::span<const Background>(kPlain) : std::span<const Background>(kNoisy);
      for (const Background& background : backgrounds) {
        for (const int64_t terms : sparse) {
          if (terms >= most_terms) continue;
          fill.terms = terms;
          fill.background = background.value;
          fill.noise = background.noise;
          result.push_back(fill);
        }
      }
    }
  }
  return result;
}

std::vector<Fill> fills_of_products(DataKind kind) {
  if (kind == DataKind::Exact) return {};  // the last fill of the exact set consists of 1 and -1
  Fill fill;
  fill.near_one = true;
  return {fill};
}

std::vector<Fill> fills_in_several_draws(DType type, int64_t most_terms) {
  std::vector<Fill> result;
  const auto counted = static_cast<int64_t>(1.0 / unit_roundoff(type));
  for (const Background& background : kPlain) {
    for (const int64_t terms :
         {counted, counted / 4, counted / 8, int64_t{64}, int64_t{16}, int64_t{8}, int64_t{4}}) {
      Fill fill;
      fill.kind = DataKind::Exact;
      fill.largest = 1;
      fill.background = background.value;
      while (fill.draws * terms < most_terms) fill.draws *= 2;
      fill.terms = (most_terms + fill.draws - 1) / fill.draws;
      if (fill.draws > 1 && fill.draws <= kMaxDraws) result.push_back(fill);
    }
  }
  return result;
}

std::vector<Fill> scaled_fills(DataKind kind) {
  std::vector<Fill> result;
  for (const double share : {0.2, 0.5, 0.8}) {
    for (const double scale : {share, -share}) {
      if (scale < 0.0 && kind == DataKind::Exact) continue;  // bounds of the exact set rely on integers
      Fill fill;
      fill.kind = kind;
      fill.largest = kind == DataKind::Exact ? 1 : fill.largest;
      fill.scale = scale;
      result.push_back(fill);
    }
  }
  return result;
}

double tight_enough(const Fill& fill, int64_t most_terms) {
  return std::clamp(kPartOfTerm / static_cast<double>(fill.terms_of(most_terms)), kTight, kLoosest);
}

void draw_indices(Tensor& data, int64_t extent, uint64_t seed) {
  RandomStream random(seed);
  const std::array<int64_t, 4> outside{extent, extent + 1, -extent - 1, -extent - 2};
  for (int64_t i = 0; i < data.elements(); ++i) {
    const auto inside = static_cast<int64_t>(random.below(static_cast<uint64_t>(extent)));
    const uint64_t choice = random.below(8);
    data.set_int(i, choice == 0 ? outside[random.below(outside.size())] : choice == 1 ? -1 - inside : inside);
  }
}

void draw(Tensor& data, const Fill& fill, bool first, int64_t most_terms, uint64_t seed, int64_t number) {
  const bool exact = fill.kind == DataKind::Exact;
  if (!data.dtype.is_float()) {
    RandomStream random(seed);
    if (exact) {
      draw_integers(data, random);
    } else if (fill.edges.integer_bits > 0) {
      draw_wide_integers(data, fill.edges, most_terms, seed);
    } else {
      data.fill_random(seed);
    }
    return;
  }
  if (fill.balanced && first && data.elements() % most_terms == 0) {
    draw_balanced(data, most_terms, seed, number);
    return;
  }
  RandomStream random(seed, static_cast<uint64_t>(number));
  const bool spread = exact && fill.draws > 1 && first;
  const bool sparse = fill.terms > 0 && !fill.balanced && (spread || first || fill.all_sparse);
  const double mean_share = static_cast<double>(fill.terms) / static_cast<double>(most_terms);
  const int64_t row = data.shape.empty() ? 1 : data.shape.back();
  // A sum of background only adds equal terms, and a narrow type may stop counting there.
  const bool row_is_a_sum = sparse && row == most_terms;
  double share = mean_share;
  int64_t drawn = 0;
  bool row_has_terms = false;
  const auto next = [&] {
    if (spread) {
      // Each draw has another element of each group of `draws` elements.
      const int64_t group = drawn / fill.draws;
      const auto turn = static_cast<int64_t>(hash_combine(seed, static_cast<uint64_t>(group)) %
                                             static_cast<uint64_t>(fill.draws));
      return (drawn++ % fill.draws) == (turn ^ number) ? integer(random, fill) : fill.background;
    }
    // Rows get different numbers of terms, so that their sums differ.
    if (sparse && drawn++ % row == 0) {
      share = mean_share * std::exp2(2 * random.uniform() - 1);
      row_has_terms = false;
    }
    const bool is_last_chance = row_is_a_sum && drawn % row == 0 && !row_has_terms;
    if (sparse && random.uniform() >= share && !is_last_chance)
      return fill.noise == 0.0 ? fill.background
                               : background(random, fill, level_of(drawn - 1, data.shape) + number);
    row_has_terms = true;
    return exact ? integer(random, fill) : real(random, fill);
  };
  const int64_t count = data.elements();
  if (data.dtype == kF32) {  // a fast path for the most common type
    auto* values = reinterpret_cast<float*>(data.bytes.data());
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(next());
  } else {
    for (int64_t i = 0; i < count; ++i) data.set(i, next());
  }
  if (first && fill.has_peaks(number)) raise_peaks(data, row, number - 1);
  if (fill.scale != 0.0) {
    const auto exponent = static_cast<int>(std::lround(fill.scale * float_range(data.dtype).max_exponent));
    for (int64_t i = 0; i < count; ++i) data.set(i, std::ldexp(data.get(i), exponent));
  }
}

}  // namespace tunesmith
