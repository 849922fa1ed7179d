// Recognises a product of matrices C[i, j] += A[i, k] * B[k, j], or a batch of
// them, in a block: which iterators, or digits of iterators, are rows,
// columns, reduction and batch (MetaSchedule's mapping to a tensor intrinsic).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct MatrixProduct {
  /// Positions in read_accesses() of the factor with the rows and of the factor with the columns.
  std::array<size_t, 2> factors{0, 1};
  /// Maps the block's iterators to those of the product, (batch.., i,
  /// j, k), for transform_block_layout; empty if they are the same.
  std::string index_map;
  std::vector<int64_t> extents;  ///< of the product's iterators
  /// For each factor: does the reduction vary faster in memory than rows or columns?
  std::array<bool, 2> reduction_inside{true, false};
};

/// "", or why the block is not a product of matrices, as a constant. An iterator of both factors belongs to
/// the batch. An iterator that a factor uses only by a quotient or remainder (groups of channels, the phase
/// of a stride) is split if the divisor divides its extent.
std::string_view match_matrix_product(const Block& block, MatrixProduct* product);

}  // namespace tunesmith
#pragma GCC visibility pop
