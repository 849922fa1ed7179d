// Where a block could be computed: what sample_compute_location chooses among.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Loops at which compute_at would not refuse the block, outermost first: loops around all consumers, down to
/// the first one that carries a consumer's reduction, inside of which the block would be computed again and
/// again. Empty for a block that cannot move.
std::vector<LoopId> legal_compute_locations(const Program& program, BlockId block);

}  // namespace tunesmith
