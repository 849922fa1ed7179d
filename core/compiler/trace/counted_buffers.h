// Checks traces of version 1, which number a block's buffers instead of its accesses (analysis/accesses.h).
#pragma once

#include <span>

#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// Does the kind have a block and the number of one of its reads or writes as parameters?
bool names_access(const InstructionKind& kind);

/// Throws ScheduleError if the block reads (or writes) a buffer by several accesses: the n-th buffer may then
/// differ from the n-th access. `args` are those of a kind with names_access().
void check_buffers_are_accesses(const InstructionKind& kind, std::span<const Value> args,
                                const Program& program);

}  // namespace tunesmith
