// Rows in the registers of threads: each row of a chain is taken by some threads of a block, which read it
// once, in one launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>
#include <tunesmith/tiling/thread_places.h>

#include "chain.h"

namespace tunesmith {

/// One way to share rows out. All its choices leave the same loops.
struct ThreadRowChoices {
  std::vector<int64_t> threads = {};  // of one row
  std::vector<int64_t> rows = {};     // of one block
  int64_t lanes = 1;                  // elements that a thread has beside each other
  int64_t few = 0;  // threads that combine what all of a row have found; 0: whoever needs it does
};

/// Ways for this chain, none where its rows are not of one length or do not fit the registers of a block.
/// `threads`: choices; `max_elements`: of a row that one thread has at most.
std::vector<ThreadRowChoices> thread_row_choices(const Program& program, const Chain& chain,
                                                 const ThreadPlaces& places,
                                                 const std::vector<int64_t>& threads, int64_t max_elements);

/// Everything of a row is computed under one loop over rows, in the nest of the chain's end. Answers the
/// blocks that it is about.
std::vector<BlockRV> compute_in_threads(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                        const ThreadRowChoices& choices);

/// Lengths of pieces of a reduction whose rows are fewer than the cores: none where the chain is more than
/// it.
std::vector<int64_t> piece_lengths(const Program& program, const Chain& chain, int64_t cores);

/// The reduction in pieces, each as a row, and in another launch the chain of what they found. Nothing is
/// answered where one of the two does not fit.
std::vector<BlockRV> compute_in_pieces(Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                                       const std::vector<int64_t>& threads, int64_t max_elements,
                                       int64_t length);

}  // namespace tunesmith
