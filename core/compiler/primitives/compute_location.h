// The locations that sample_compute_location chooses among.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The loops at which compute_at accepts the block, outermost first: loops around all consumers, down to the
/// first that carries a consumer's reduction (inside it the block would be recomputed). A loop is given by
/// its depth, the number of loops around it in its scope, which is independent of the legality of others.
/// Empty for a block that cannot move.
std::vector<int64_t> legal_compute_depths(const Program& program, BlockId block);

/// The loop at this depth, which must be one of legal_compute_depths(); not checked.
LoopId loop_at_depth(const Program& program, BlockId block, int64_t depth);

}  // namespace tunesmith
