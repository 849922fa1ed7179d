// Held-out tasks, which are excluded from training to evaluate what was learned.
#pragma once

#include <cstdint>
#include <string>

#include "tunesmith/proposals/sequence.h"

namespace tunesmith {

/// A text that is equal for similar tasks: for each block the kinds of its iterators with their extents'
/// logarithms, rounded down, the indices of its accesses without numbers, and its operations. Tasks whose
/// extents differ by factors below two may share it; names do not count. Depends only on the computation, so
/// it is equal on every machine and in every version with this kSequenceVersion.
std::string neighbourhood(const SequenceTask& task);

/// One of this many neighbourhoods is held out, with all its tasks.
inline constexpr uint64_t kHeldOutShare = 5;
bool is_held_out(const SequenceTask& task);

}  // namespace tunesmith
