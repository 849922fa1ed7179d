// Barriers in shared memory that count arrivals and bytes, and change phase when both are complete.
#pragma once

namespace tunesmith_emulation {

void begin_block_mbarriers();

}  // namespace tunesmith_emulation
