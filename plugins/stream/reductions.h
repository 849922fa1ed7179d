// Long reductions over all cores, with several vector accumulators on each.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/stable/schedule.h>

#include "reduction_form.h"

namespace tunesmith {

struct StreamChoices {
  int64_t vector_bits = 0;
  int64_t cores = 1;
  std::vector<int64_t> accumulators;    // numbers of vectors accumulated in parallel
  std::vector<int64_t> jobs;            // for each core
  std::vector<int64_t> prefetch_rows;   // prefetch distances for columns; empty: none
  std::vector<int64_t> prefetch_steps;  // ahead, along memory; empty: never
  int64_t private_cache_bytes = 0;      // per core; stores of larger outputs may bypass the caches
};

/// A schedule with the blocks that it is about.
struct StreamSketch {
  Schedule schedule;
  std::vector<BlockRV> blocks;
};

/// All ways to compute the block: results in parallel if there are enough for
/// the cores, and pieces of the reduction in parallel if it is long enough.
std::vector<StreamSketch> stream_reduction(const Schedule& schedule, const std::string& block,
                                           const ReductionForm& form, const StreamChoices& choices);

}  // namespace tunesmith
