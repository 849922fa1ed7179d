// The part of a chain between its products: reductions along
// the row with several accumulators, and elementwise stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>

#include "chain.h"

namespace tunesmith {

/// One member with the blocks of its partial results in text order: empty if it has none.
struct RowStage {
  BlockRV block;
  std::vector<BlockRV> partials;
  std::vector<size_t> rows;  // positions in the iterators of `block`
  int64_t lanes = 1;         // per vector
};

/// How the row part is cut.
struct RowChoices {
  int64_t vector_bits = 0;
  std::vector<int64_t> accumulators;  // number of vectors in an accumulator
};

/// The members by name, with each reduction factored by the lanes of several vectors, then of one.
std::vector<RowStage> factor_reductions(Schedule& schedule, const Chain& chain,
                                        const std::vector<std::string>& names, const RowChoices& choices);

/// For each loop around the block, outermost first: are rows bound to it?
std::vector<bool> loops_of_rows(const Schedule& schedule, BlockRV block, const std::vector<size_t>& rows);

/// The block's loops over rows outermost, in their order, and the others behind them.
struct RowsFirst {
  std::vector<LoopRV> rows;
  std::vector<LoopRV> others;
};
RowsFirst rows_first(Schedule& schedule, BlockRV block, const std::vector<size_t>& rows);

/// Vectorises and unrolls the stage in place, with
/// its inits before it. Returns the new blocks.
std::vector<BlockRV> finish_stage(Schedule& schedule, const RowStage& stage, const RowChoices& choices);

}  // namespace tunesmith
