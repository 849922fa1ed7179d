// Traces of version 1 named a read or write of a block by counting buffers, where accesses are counted now
// (analysis/accesses.h).
#pragma once

#include <span>

#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// True for a kind that has a block and the number of one of its reads or writes among its parameters.
bool names_access(const InstructionKind& kind);

/// Throws ScheduleError when the block reads (or writes) a buffer in several ways: then the n-th buffer may
/// be another one than the n-th access. `args` are those of a kind that names_access().
void check_buffers_are_accesses(const InstructionKind& kind, std::span<const Value> args,
                                const Program& program);

}  // namespace tunesmith
