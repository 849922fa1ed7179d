// Registers of warpgroups.
#pragma once

namespace tunesmith_emulation {

void begin_block_registers();

}  // namespace tunesmith_emulation
