// What a program says about the ends of its types' ranges: which values of them have one right result, and
// where they can stand without hiding others.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

struct EdgeTraits {
  /// Of each input and each of its axes: every stage carries the axis through to the outputs, so that what
  /// lies in one slice along it reaches no other slice of any output. Empty: nothing is known, and no data
  /// have edges.
  std::vector<std::vector<bool>> carried;
  /// Right programs may differ in an output; else every value has one right result, infinities as well.
  bool rounds = true;
  /// A stage multiplies up all that it reduces.
  bool multiplies = false;
  /// A stage reduces: which of several NaN a maximum meets last is a matter of order.
  bool reduces = true;
  /// Denormals have one right result: no target may take them for zero (bf16), and nothing is divided by
  /// them.
  bool keeps_denormals = false;
  /// Of each input: the powers of two that it can be scaled by before a product with it, of all its factors
  /// scaled so, outgrows the narrowest type that the program computes in. 0 of integers.
  std::vector<int64_t> exponents;
  /// Of each input: the extent of the largest dimension in which another buffer is read at what this one
  /// holds. 0: it is no index. Its values are drawn around [-extent, extent).
  std::vector<int64_t> extents;
  /// Elements that all stages compute, each as often as it is updated.
  int64_t operations = 0;
};

EdgeTraits edge_traits(const Program& program);

}  // namespace tunesmith
