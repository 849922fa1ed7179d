// What the numbers of a program become when the extents of its workload become smaller.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Of two programs with the same statements, which extents stand for which: those of corresponding loops, and
/// the dimensions, strides and sizes of corresponding buffers. A number of the larger program that is no
/// function of these must be the same in the smaller one.
class ExtentSubstitution {
 public:
  /// The extents of `full` that are others in `smaller`. Of programs whose loops or buffers do not correspond
  /// as far as they do.
  ExtentSubstitution(const Program& full, const Program& smaller);

  /// Of coefficients: are they the same multiple of an extent?
  bool scales(int64_t full, int64_t smaller) const;
  /// Of divisors: do they scale, or are they how many tiles of one size an extent has?
  bool counts(int64_t full, int64_t smaller) const;
  /// Of bounds and offsets: do they count, or lie one distance from such a number, which is greater than the
  /// distance?
  bool shifts(int64_t full, int64_t smaller) const;
  /// Of data: are they an extent, or the reciprocal of one?
  bool is_extent(double full, double smaller) const;

 private:
  void insert(int64_t full, int64_t smaller);
  void insert(const Buffer& full, const Buffer& smaller);

  std::vector<std::pair<int64_t, int64_t>> extents_;  // of the full program and of the smaller one
};

}  // namespace tunesmith
