// The cost of a memory access by threads in lockstep, computed from the address of each thread.
#pragma once

#include <cstdint>
#include <optional>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// Threads that run in lockstep, and the granularity of their memory.
struct LockstepMachine {
  const ExecutionModel* execution = nullptr;  // not null
  int64_t width = 1;                          // number of consecutive threads in a group; >= 1
  int64_t sector_bytes = 32;
  /// The most that one instruction of a thread can load or store: vectors with is_one_access()
  /// for this size (vector_access.h) are one access, others are accessed lane by lane.
  int64_t access_bytes = 16;
};

/// An access by a group: means over the groups of the first
/// block, at the first iterations of the serial loops.
struct LockstepAccess {
  /// Threads that make the access: conditions and masks exclude the others.
  double threads = 0.0;
  double bytes = 0.0;    // distinct bytes that these request
  int instructions = 1;  // per thread: more than 1 for the lanes of a vector that is not one access
  /// Distinct sectors of memory that contain the bytes, over all instructions.
  double sectors = 0.0;
  /// The number of accesses to the memory: 1 if no two threads need different
  /// words of one bank. Accesses larger than the banks' bandwidth are split
  /// into phases. Over all instructions; 0 for memory without banks.
  double wavefronts = 0.0;

  /// The share of the sectors' bytes that is requested; 1 without an access.
  /// Lower if instructions request the same sectors one after the other.
  double used_share(int64_t sector_bytes) const {
    return sectors > 0.0 ? bytes / (sectors * static_cast<double>(sector_bytes)) : 1.0;
  }
};

/// For an access in a lowered program (one index per access). Threads are numbered
/// along the axes of the synchronising levels: the first axis of the innermost
/// level varies fastest. A buffer begins at address 0 of its scope, as the scope's
/// alignment allows. Nothing if an address or condition is loaded from memory.
std::optional<LockstepAccess> lockstep_access(const Stmt& stmt, const AccessSite& access,
                                              const LockstepMachine& machine);

}  // namespace tunesmith
