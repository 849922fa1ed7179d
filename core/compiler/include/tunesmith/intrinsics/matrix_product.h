// How a block that multiplies two arrays and adds up is a product of matrices, C[i, j] += A[i, k] * B[k, j],
// or a batch of them: which of its iterators, or digits of them, make rows, columns, steps of the reduction
// and the batch (MetaSchedule's mapping to a tensor intrinsic).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct MatrixProduct {
  /// Positions in read_accesses(): of the factor that has the rows, and of the one that has the columns.
  std::array<size_t, 2> factors{0, 1};
  /// The block's iterators as those of the product, (batch.., i, j, k), for transform_block_layout; empty
  /// where they are just that.
  std::string index_map;
  std::vector<int64_t> extents;  ///< of these
  /// Of each factor in memory: does the reduction lie further in than rows or columns?
  std::array<bool, 2> reduction_inside{true, false};
};

/// "", or why the block is no product of matrices: a constant. An iterator belongs to the batch where both
/// factors use it. One of which a factor uses the quotient by a number or the remainder alone, as of groups
/// of channels or of the phase of a stride, is taken apart where the number divides its extent.
std::string_view match_matrix_product(const Block& block, MatrixProduct* product);

}  // namespace tunesmith
#pragma GCC visibility pop
