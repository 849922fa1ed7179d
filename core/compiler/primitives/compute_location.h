// Where a block could be computed: what sample_compute_location chooses among.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Loops at which compute_at would not refuse the block, outermost first: loops around all consumers, down to
/// the first one that carries a consumer's reduction, inside of which the block would be computed again and
/// again. Each by its depth, the number of loops around it within its scope, which means the same whatever
/// else is legal. Empty for a block that cannot move.
std::vector<int64_t> legal_compute_depths(const Program& program, BlockId block);

/// The loop that has this depth. It must be one of legal_compute_depths(): that is not checked again.
LoopId loop_at_depth(const Program& program, BlockId block, int64_t depth);

}  // namespace tunesmith
