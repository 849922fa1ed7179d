// The kernel's instruction kinds: one function for each, defined in primitives/<name>.cpp beside the
// primitive itself and listed in the table of registry.cpp.
#pragma once

#include <memory>

#include "tunesmith/schedule/instruction.h"

namespace tunesmith {

using KindPtr = std::unique_ptr<const InstructionKind>;

// Look-ups
KindPtr get_block_kind();
KindPtr get_loops_kind();

// Loops
KindPtr split_kind();

}  // namespace tunesmith
