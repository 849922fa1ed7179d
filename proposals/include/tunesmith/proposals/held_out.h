// Which tasks nothing may be learned from, so that what was learned can be tried on them.
#pragma once

#include <cstdint>
#include <string>

#include "tunesmith/proposals/sequence.h"

namespace tunesmith {

/// Tasks that differ in no more than a factor below two of some extents, or in names, are of one
/// neighbourhood: per block the kinds of its iterators with the logarithms of their extents, rounded down,
/// its accesses' indices without numbers and its operations. It depends on what is computed alone, so that it
/// is the same on every machine and in every version that writes kSequenceVersion.
std::string neighbourhood(const SequenceTask& task);

/// One neighbourhood in this many is held out, with all its tasks.
inline constexpr uint64_t kHeldOutShare = 5;
bool is_held_out(const SequenceTask& task);

}  // namespace tunesmith
