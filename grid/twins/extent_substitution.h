// Maps the numbers of a program when the extents of its workload shrink.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The corresponding extents of two programs with the same statements, from corresponding loops and the
/// dimensions, strides and sizes of corresponding buffers. A number of the larger program that is not a
/// function of these must be equal in the smaller one.
class ExtentSubstitution {
 public:
  /// The extents of `full` that differ in `smaller`,
  /// as far as loops and buffers correspond.
  ExtentSubstitution(const Program& full, const Program& smaller);

  /// For coefficients: are they the same multiple of an extent?
  bool scales(int64_t full, int64_t smaller) const;
  /// For divisors: do they scale, or count the tiles of one size in an extent?
  bool counts(int64_t full, int64_t smaller) const;
  /// For bounds and offsets: do they count, or have equal
  /// distances, smaller than themselves, from such a number?
  bool shifts(int64_t full, int64_t smaller) const;
  /// For data: are they an extent, or the reciprocal of one?
  bool is_extent(double full, double smaller) const;

 private:
  void insert(int64_t full, int64_t smaller);
  void insert(const Buffer& full, const Buffer& smaller);

  std::vector<std::pair<int64_t, int64_t>> extents_;  // of the full program and of the smaller one
};

}  // namespace tunesmith
