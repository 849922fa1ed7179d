// What candidates are run on when they are verified: two data sets, each drawn in the first way that lets a
// wrong element be told from a rounded one.
//
//   random   reals without symmetry, so that wrong indexing shows
//   exact    small integers, so that sums and products of them have no rounding and the bound is zero
//
// Where a type cannot sum up as many terms as a stage has, most of the data are the background, which adds
// little or nothing: about 0, or so low that little or nothing remains of its exponential.
//
// The random set reaches the ends of its types' ranges, too, as far as its bounds stay tight (edges.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/verification/edges.h"
#include "tunesmith/verification/reference_twins.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// In the order in which a candidate meets them.
inline constexpr std::array<DataKind, 2> kDataKinds{DataKind::Exact, DataKind::Random};

/// No set is drawn more often.
inline constexpr int64_t kMaxDraws = 256;

/// One way of drawing the inputs of floating types. Integers are drawn from [-3, 3] for the exact set; for
/// the random one over their range, or, where that leaves no tight bounds, from [-1000, 1000].
struct Fill {
  DataKind kind = DataKind::Random;
  int largest = 3;  // of the exact set: 1 .. largest, and the negatives
  bool positive = false;
  bool near_one =
      false;  // of the random set: as far above one as below it, so that a product of many stays a number
  int64_t terms = 0;  // of a longest sum that are no background; 0: all
  double background = 0.0;
  double noise = 0.0;       // the background varies by as much, so that its elements differ
  bool all_sparse = false;  // every input has a background, not only the first of a floating type
  /// Each longest sum of the first floating input is over as many 1 as -1, and zeros, so that its mean is
  /// zero and its mean square a power of a quarter: what is divided by them stays exact. In turn a sum has
  /// many that are not zero, others in each draw, and few.
  bool balanced = false;
  /// More than one: the set is drawn so often (a power of two), and of the exact set every element of the
  /// first floating input is no background in just one of the draws (of balanced rows: in one at least, of
  /// every second row).
  int64_t draws = 1;
  /// In so many draws after the first one element of each row of the first floating input, the last of the
  /// first row and in other places of the next ones, is so far above all others that the exponential of the
  /// distance overflows in every type.
  int64_t peaks = 0;
  /// All inputs are scaled by this share of the exponents of their types, up or down.
  double scale = 0.0;
  Edges edges = {};  // of the random set

  bool has_peaks(int64_t number) const { return number >= 1 && number <= peaks; }
  /// Draws of edges alone come first.
  EdgePart edge_part(int64_t number) const;
  /// Which of the other draws it is, from 0.
  int64_t plain_number(int64_t number) const;
  /// Terms of a longest sum that are no background.
  int64_t terms_of(int64_t most_terms) const { return terms > 0 ? terms : most_terms; }
  /// "integers up to 3, 32 terms of a sum".
  std::string text() const;
};

/// The ways to draw a set, in the order in which they are tried: the most telling first. `most_terms`: of the
/// program (reference.h).
std::vector<Fill> fills(DataKind kind, int64_t most_terms);

/// The ways to try before those for a program that multiplies up many terms.
std::vector<Fill> fills_of_products(DataKind kind);

/// The ways to try at last: what passes through a long chain becomes too small for its type, or too large.
std::vector<Fill> scaled_fills(DataKind kind);

/// What a bound may be at most, as a share of a typical element (root mean square over an output).
inline constexpr double kLoosest = 0.05;
/// A bound, as such a share, that leaves no reason to try the next fill: a quarter of one term of a longest
/// sum.
double tight_enough(const Fill& fill, int64_t most_terms);

/// Those that see every term of a longest sum, however many there are, in several draws; `type` is that of
/// the first floating input. None where it would take too many.
std::vector<Fill> fills_in_several_draws(DType type, int64_t most_terms);

/// Draws one input for the `number`-th draw of its set. `first`: no floating input comes before it. The same
/// on every machine.
void draw(Tensor& data, const Fill& fill, bool first, int64_t most_terms, uint64_t seed, int64_t number = 0);

/// Draws integers that are indices of a dimension of this extent: most in [0, extent), some from its end,
/// [-extent, -1], and a few that are outside of both.
void draw_indices(Tensor& data, int64_t extent, uint64_t seed);

}  // namespace tunesmith
