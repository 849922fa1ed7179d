// Rows in the registers of threads: several threads of a block
// process each row of a chain, which they read once, in one launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>
#include <tunesmith/tiling/thread_places.h>

#include "chain.h"

namespace tunesmith {

/// One way to distribute rows. All its choices give the same loops.
struct ThreadRowChoices {
  std::vector<int64_t> threads = {};  // per row
  std::vector<int64_t> rows = {};     // per block
  int64_t lanes = 1;                  // contiguous elements of a thread
  int64_t few = 0;                    // threads that combine a row's partial results; 0: each reader does
};

/// The choices for this chain; empty if its rows differ in length or do not fit the
/// registers of a block. `threads`: choices; `max_elements`: of a row per thread.
std::vector<ThreadRowChoices> thread_row_choices(const Program& program, const Chain& chain,
                                                 const ThreadPlaces& places,
                                                 const std::vector<int64_t>& threads, int64_t max_elements);

/// Computes a row's data under one loop over rows, in the
/// nest of the chain's end. Returns the blocks concerned.
std::vector<BlockRV> compute_in_threads(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                        const ThreadRowChoices& choices);

/// The lengths of the pieces of a reduction with fewer rows than cores; empty if the chain has other members.
std::vector<int64_t> piece_lengths(const Program& program, const Chain& chain, int64_t cores);

/// Splits the reduction into pieces that are treated as rows, and computes the chain
/// of their results in another launch. Returns nothing if one of the two does not fit.
std::vector<BlockRV> compute_in_pieces(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                       const std::vector<int64_t>& threads, int64_t max_elements,
                                       int64_t length);

}  // namespace tunesmith
