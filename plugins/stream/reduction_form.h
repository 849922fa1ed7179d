// The memory access pattern of a reduction that reads every element once.
#pragma once

#include <cstdint>
#include <optional>

#include <tunesmith/stable/program.h>

namespace tunesmith {

enum class Direction {
  Along,   // neighbours in memory belong to one result: a norm, sums of rows
  Across,  // neighbours are of neighbouring results: sums of columns, pooling
};

struct ReductionForm {
  Direction direction = Direction::Along;
  /// Are the reduction's iterators, in order, whole last dimensions of all reads?
  bool dense = false;
};

/// The bytes of all elements.
int64_t bytes_of(const Buffer& buffer);

/// Nothing if the block is not a reduction that reads memory once and in order. Each result may reread an
/// operand of at most `max_bytes_again` (the vector of a matrix-vector product).
std::optional<ReductionForm> match_reduction(const Block& block, int64_t max_bytes_again);

}  // namespace tunesmith
