// Which vectorized loops of a program for threads become vectors: threads have none but in their loads and
// stores.
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith::cuda {

/// Bytes that one instruction of a thread loads or stores at most.
inline constexpr int64_t kAccessBytes = 16;

/// Loops over cores, and vectorized ones around loops over threads, become loops of each thread.
void write_out_lanes(Program& program);

/// Of a lowered program: the vectorized loops that only store, each lane to an element of its own, are cut to
/// vectors that one instruction accesses; the others are written out.
void cut_vectors(Program& program);

}  // namespace tunesmith::cuda
