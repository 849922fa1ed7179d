// Values at the ends of the types' ranges, as they are put into drawn data.
//
// Of a program that rounds, whole slices of an input are multiplied by powers of two: a slice's own sums lose
// no term, and their bounds grow with it. Of a program that does not, each element of a slice is another one
// of the values that its type has. Integers have no slices: their sums and products wrap around, and no
// element hides another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/verification/edge_traits.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// How far the data go towards the ends of their types' ranges. A value.
struct Edges {
  /// Floats: scaled up by this share of the exponents that there are (EdgeTraits), and half as far down. 0:
  /// not.
  double share = 0.0;
  /// Half of the scaled slices are negative: of data that are all positive otherwise.
  bool signs = false;
  /// Floats are any values of their types; `share` says nothing.
  bool any_value = false;
  bool denormals = false;
  bool nans = false;
  /// Integers are drawn over their types' ranges, up to so many bits. 0: up to 1000.
  int64_t integer_bits = 0;
  /// So many draws of the set, its first, are of edges alone. 0: a part of the slices of every draw is.
  int64_t draws = 0;

  bool in_floats() const { return share > 0.0 || any_value; }
  bool operator==(const Edges&) const = default;
  /// "magnitudes up to 0.45 of the exponents in a 16th of the slices"; "" where there are none.
  std::string text() const;
};

/// The finite values of a floating type.
struct FloatRange {
  int min_exponent;  // of the smallest normal number
  int max_exponent;  // of the largest number
  double largest;
  double smallest;  // denormal
};
FloatRange float_range(DType type);

/// Which part a draw has in the edges.
enum class EdgePart : uint8_t {
  None,
  Slices,  // some of the slices
  Large,   // every slice, with any scale: the first with the largest
  Small,   // the same, but the first with the smallest: there may be no second
  Tiny,    // every second slice, of denormals; of the next factor the others
};

/// Of one input, as EdgeTraits has it.
struct SliceInput {
  int64_t position = 0;
  std::vector<bool> carried;
  int64_t exponents = 0;
  /// No factor, beside others that are: what it is added to is small as well where a factor is, and would be
  /// hidden.
  bool added = false;
};

/// How many slices the tensor has.
int64_t slices_of(const Tensor& data, const std::vector<bool>& carried);

/// Puts edges into a floating tensor.
void add_edges(Tensor& data, const Edges& edges, EdgePart part, const SliceInput& input, uint64_t seed);

/// Draws integers over the range of their type. `most_terms`: of a longest sum or maximum, in which the
/// type's largest value would hide the others.
void draw_wide_integers(Tensor& data, const Edges& edges, int64_t most_terms, uint64_t seed);

/// Runner::not_exercised(), of data with these edges.
std::vector<std::string> not_exercised(const Program& program, const EdgeTraits& traits, const Edges& edges);

}  // namespace tunesmith
