// Puts values at the ends of the types' ranges into drawn data.
//
// For a program that rounds, whole slices of an input are multiplied by powers of
// two: sums within a slice lose no term, and their bounds scale with it. For other
// programs the elements of a slice take all kinds of values of their type. Integers
// have no slices: their sums and products wrap around, and no element hides another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/verification/edge_traits.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// How far the data extend towards the ends of their types' ranges. A value.
struct Edges {
  /// Floats: scaled up by at most this share of the available
  /// exponents (EdgeTraits), and down by half of that. 0: not scaled.
  double share = 0.0;
  /// Half of the scaled slices are negative, for data that are otherwise positive.
  bool signs = false;
  /// Floats are any values of their types; `share` is ignored.
  bool any_value = false;
  bool denormals = false;
  bool nans = false;
  /// Integers are drawn from their types' ranges, up to this number of bits. 0: up to 1000.
  int64_t integer_bits = 0;
  /// The first draws of the set consist only of edges; 0: some slices of every draw do.
  int64_t draws = 0;

  bool in_floats() const { return share > 0.0 || any_value; }
  bool operator==(const Edges&) const = default;
  /// "magnitudes up to 0.45 of the exponents in a 16th of the slices"; "" if there are none.
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

/// Which slices of a draw are edges.
enum class EdgePart : uint8_t {
  None,
  Slices,  // some slices
  Large,   // every slice, with any scale: the first with the largest
  Small,   // the same, but the first with the smallest (there may be only one)
  Tiny,    // every second slice, denormal; the others for the next factor
};

/// One input, with its EdgeTraits.
struct SliceInput {
  int64_t position = 0;
  std::vector<bool> carried;
  int64_t exponents = 0;
  /// Added to products of other inputs: scaled down with a
  /// factor, since it would otherwise hide the small products.
  bool added = false;
};

/// The number of slices of the tensor.
int64_t slices_of(const Tensor& data, const std::vector<bool>& carried);

/// Puts edges into a floating tensor.
void add_edges(Tensor& data, const Edges& edges, EdgePart part, const SliceInput& input, uint64_t seed);

/// Draws integers from the range of their type. `most_terms`: of a longest
/// sum or maximum, in which the type's largest value would hide the others.
void draw_wide_integers(Tensor& data, const Edges& edges, int64_t most_terms, uint64_t seed);

/// Runner::not_exercised() for data with these edges.
std::vector<std::string> not_exercised(const Program& program, const EdgeTraits& traits, const Edges& edges);

}  // namespace tunesmith
