// Brings a block that is a product of matrices under other axes to the form C[batch.., i, j] += A[batch.., i,
// k] * B[batch.., k, j]: a convolution, say, whose spatial axes become i, output channels j, and taps and
// input channels k.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tunesmith/trace/schedule.h"

namespace tunesmith {

struct MatrixForm {
  /// The block's reads that are A and B.
  std::array<int, 2> reads{0, 1};
  /// Do the block's reads of A and B have the reduction as their last dimension, or rows and columns?
  std::array<bool, 2> reduction_last{true, false};
  /// Copies of the factors in these orders, to be inlined into copies of them.
  std::vector<BlockRV> copies;
  /// What copies the result to where it was.
  std::optional<BlockRV> result;
};

/// Throws ScheduleError, with the schedule half way, where the block is no product of matrices. What pads a
/// factor, and is read by the block alone, becomes part of the factor's copy.
MatrixForm bring_to_matrix_form(Schedule& schedule, BlockRV block);

/// "(d0, d1, d2, d3) -> (d0, d1, d3)": of the iterators (batch.., i, j, k) of a block in the form, those of a
/// factor, A (0) or B (1), with the reduction last or not; or those of the result.
std::string map_of_factor(const Schedule& schedule, BlockRV block, size_t factor, bool reduction_last);
std::string map_of_result(const Schedule& schedule, BlockRV block);

}  // namespace tunesmith
