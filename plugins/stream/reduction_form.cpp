#include "reduction_form.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include <tunesmith/stable/analysis.h>

namespace tunesmith {
namespace {

std::vector<size_t> iters_of(const std::vector<IterVar>& iters, IterKind kind) {
  std::vector<size_t> found;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == kind && iters[i].extent > 1) found.push_back(i);
  }
  return found;
}

/// The number of dimensions up to the last with more than one element.
size_t moving_dimensions(const Access& read) {
  size_t count = read.indices.size();
  while (count > 0 && read.buffer->shape[count - 1] == 1) --count;
  return count;
}

/// Are these the last of its dimensions, each whole and in this order?
bool ends_with(const Access& read, const std::vector<size_t>& wanted, const std::vector<IterVar>& iters) {
  const size_t dimensions = moving_dimensions(read);
  if (dimensions < wanted.size()) return false;
  const size_t first = dimensions - wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (read.indices[first + i].iterator != wanted[i] ||
        read.buffer->shape[first + i] != iters[wanted[i]].extent)
      return false;
  }
  return true;
}

/// Do windows overlap, so that more is read than the buffer has?
bool reads_again(const Access& read, const std::vector<IterVar>& iters) {
  int64_t steps = 1;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (read.uses(i)) steps *= iters[i].extent;
  }
  return steps * read.buffer->dtype.bytes() > bytes_of(read.buffer);
}

/// Each result reads its own part of a matrix; the other operands are small.
bool is_matrix_times_vector(const std::vector<Access>& reads, const std::vector<size_t>& spatial,
                            int64_t max_bytes_again) {
  const auto is_matrix = [&](const Access& read) {
    return std::ranges::all_of(spatial, [&](size_t iterator) { return read.uses(iterator); });
  };
  return std::ranges::any_of(reads, is_matrix) && std::ranges::all_of(reads, [&](const Access& read) {
           return is_matrix(read) || bytes_of(read.buffer) <= max_bytes_again;
         });
}

}  // namespace

int64_t bytes_of(const Buffer& buffer) {
  return std::accumulate(buffer->shape.begin(), buffer->shape.end(), int64_t{buffer->dtype.bytes()},
                         std::multiplies());
}

std::optional<ReductionForm> match_reduction(const Block& block, int64_t max_bytes_again) {
  if (!block.has_reduction() || block.init() == nullptr) return std::nullopt;
  const std::vector<IterVar> iters = block.iters();
  const std::vector<size_t> spatial = iters_of(iters, IterKind::Spatial);
  const std::vector<size_t> reduction = iters_of(iters, IterKind::Reduction);
  const std::vector<Access> reads = reads_of(block);
  const std::vector<Access> writes = writes_of(block);
  if (reduction.empty() || reads.empty() || writes.size() != 1) return std::nullopt;
  if (std::ranges::any_of(reads, [&](const Access& read) { return reads_again(read, iters); }))
    return std::nullopt;
  const bool is_product = needs_tiling(block);
  if (is_product && !is_matrix_times_vector(reads, spatial, max_bytes_again)) return std::nullopt;
  const auto all_end_with = [&](size_t iterator) {
    return std::ranges::all_of(reads, [&](const Access& read) {
      const size_t dimensions = moving_dimensions(read);
      return dimensions > 0 && read.indices[dimensions - 1].iterator == iterator;
    });
  };
  ReductionForm form;
  if (all_end_with(reduction.back())) {
    form.dense =
        std::ranges::all_of(reads, [&](const Access& read) { return ends_with(read, reduction, iters); });
    return form;
  }
  if (is_product || spatial.empty() || !all_end_with(spatial.back()) ||
      writes.front().indices.back().iterator != spatial.back())
    return std::nullopt;
  form.direction = Direction::Across;
  return form;
}

}  // namespace tunesmith
