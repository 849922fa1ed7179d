// Properties of a program that decide which values at the ends of its types'
// ranges have one correct result, and where they can be put without hiding others.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

struct EdgeTraits {
  /// For each input and axis: does every stage carry the axis to
  /// the outputs, so that a slice along it affects no other slice
  /// of any output? Empty: unknown, and no data have edges.
  std::vector<std::vector<bool>> carried;
  /// Correct programs may differ in an output; else every value, infinities included, has one correct result.
  bool rounds = true;
  /// A stage multiplies all terms that it reduces.
  bool multiplies = false;
  /// A stage reduces: which of several NaNs a maximum returns depends on the order.
  bool reduces = true;
  /// Denormals have one correct result: no target may flush
  /// them to zero (bf16), and nothing is divided by them.
  bool keeps_denormals = false;
  /// For each input: the power of two by which it and all other factors can be scaled
  /// before a product exceeds the narrowest type of the program. 0 for integers.
  std::vector<int64_t> exponents;
  /// For each input: the extent of the largest dimension that it indexes in another
  /// buffer; 0 if it is no index. Its values are drawn around [-extent, extent).
  std::vector<int64_t> extents;
  /// The number of elements computed in all stages, counting every update.
  int64_t operations = 0;
};

EdgeTraits edge_traits(const Program& program);

}  // namespace tunesmith
