// What a reduction that reads every element once looks like in memory.
#pragma once

#include <cstdint>
#include <optional>

#include <tunesmith/stable/program.h>

namespace tunesmith {

enum class Direction {
  Along,   // neighbours in memory are of one result: a norm, sums of rows
  Across,  // neighbours are of neighbouring results: sums of columns, pooling
};

struct ReductionForm {
  Direction direction = Direction::Along;
  /// Are the iterators of the reduction, in their order, the last dimensions of all reads, whole?
  bool dense = false;
};

/// Of all its elements.
int64_t bytes_of(const Buffer& buffer);

/// Nothing where the block is no reduction that reads what is in memory once and in order. An operand of no
/// more than `max_bytes_again` may be read again by each result, as the vector of a product of a matrix and a
/// vector.
std::optional<ReductionForm> match_reduction(const Block& block, int64_t max_bytes_again);

}  // namespace tunesmith
