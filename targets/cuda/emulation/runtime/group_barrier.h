// Barriers of some of a block's warps.
#pragma once

namespace tunesmith_emulation {

void begin_block_group_barriers();

}  // namespace tunesmith_emulation
