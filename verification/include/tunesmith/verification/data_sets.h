// The data on which candidates are verified: two data sets, each drawn in the
// first way that allows a wrong element to be distinguished from rounding.
//
// random   real numbers without symmetry, so that wrong indexing shows
// exact    small integers whose sums and products are not rounded, so that the bound is zero
//
// If a type cannot sum all terms of a stage, most elements are background, which contributes
// little or nothing: close to 0, or so low that its exponential nearly vanishes.
//
// The random set also covers the ends of its types' ranges, as far as its bounds stay tight (edges.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/verification/edges.h"
#include "tunesmith/verification/reference_twins.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// In the order in which candidates are run on them.
inline constexpr std::array<DataKind, 2> kDataKinds{DataKind::Exact, DataKind::Random};

/// The maximum number of draws of a set.
inline constexpr int64_t kMaxDraws = 256;

/// One way of drawing inputs of floating types. Integers come from [-3, 3] in the exact set; in
/// the random set from their whole range or, if that gives no tight bounds, from [-1000, 1000].
struct Fill {
  DataKind kind = DataKind::Random;
  int largest = 3;  // for the exact set: 1 .. largest, and the negatives
  bool positive = false;
  bool near_one = false;  // for the random set: symmetric around one, so that long products stay finite
  int64_t terms = 0;      // terms of a longest sum that are not background; 0: all
  double background = 0.0;
  double noise = 0.0;       // variation of the background, so that its elements differ
  bool all_sparse = false;  // every input has a background, not only the first floating one
  /// Each longest sum of the first floating input has as many 1 as -1, and zeros: its mean is
  /// zero and its mean square a power of a quarter, so that division by them is exact. Sums
  /// with many and with few nonzero elements alternate; the positions change from draw to draw.
  bool balanced = false;
  /// More than one: the number of draws of the set (a power of two). In the
  /// exact set every element of the first floating input is nonbackground in
  /// exactly one draw (balanced rows: in at least one, for every second row).
  int64_t draws = 1;
  /// In this many draws after the first, one element in each row of the first floating
  /// input (the last of the first row, elsewhere in the next rows) is so large that
  /// the exponential of its distance to the others overflows in every type.
  int64_t peaks = 0;
  /// Scales all inputs up or down by this share of their types' exponents.
  double scale = 0.0;
  Edges edges = {};  // of the random set

  bool has_peaks(int64_t number) const { return number >= 1 && number <= peaks; }
  /// Draws that consist only of edges come first.
  EdgePart edge_part(int64_t number) const;
  /// The index of a draw among the other draws, from 0.
  int64_t plain_number(int64_t number) const;
  /// The number of terms of a longest sum that are not background.
  int64_t terms_of(int64_t most_terms) const { return terms > 0 ? terms : most_terms; }
  /// "integers up to 3, 32 terms of a sum".
  std::string text() const;
};

/// The ways to draw a set, in the order of trying: the most
/// sensitive first. `most_terms`: of the program (reference.h).
std::vector<Fill> fills(DataKind kind, int64_t most_terms);

/// The ways to try first for a program that multiplies many terms.
std::vector<Fill> fills_of_products(DataKind kind);

/// The last ways to try: for long chains whose values become too small or large for their type.
std::vector<Fill> scaled_fills(DataKind kind);

/// The maximum bound, as a share of a typical element (root mean square over an output).
inline constexpr double kLoosest = 0.05;
/// The bound, as such a share, below which no further
/// fill is tried: a quarter of one term of a longest sum.
double tight_enough(const Fill& fill, int64_t most_terms);

/// Fills that see every term of a longest sum in several draws; `type` is
/// that of the first floating input. Empty if that takes too many draws.
std::vector<Fill> fills_in_several_draws(DType type, int64_t most_terms);

/// Draws one input for the `number`-th draw of its set. `first`:
/// no floating input comes before it. The same on every machine.
void draw(Tensor& data, const Fill& fill, bool first, int64_t most_terms, uint64_t seed, int64_t number = 0);

/// Draws integer indices into a dimension of this extent: most in [0,
/// extent), some counted from its end, [-extent, -1], and a few out of range.
void draw_indices(Tensor& data, int64_t extent, uint64_t seed);

}  // namespace tunesmith
