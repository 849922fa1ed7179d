// Decides which vectorized loops of a program for threads become
// vectors: threads have vectors only in loads and stores.
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith::cuda {

/// The maximum size of a load or store instruction in bytes.
inline constexpr int64_t kAccessBytes = 16;

/// Loops over cores, and vectorized ones around loops over threads, become loops of each thread.
void write_out_lanes(Program& program);

/// For a lowered program: splits vectorized loops that only store, each
/// lane to its own element, into vectors of one access; unrolls the others.
void cut_vectors(Program& program);

}  // namespace tunesmith::cuda
