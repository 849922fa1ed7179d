// What an access to memory takes that threads make in lockstep, told from the addresses of each of them.
#pragma once

#include <cstdint>
#include <optional>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// Threads that run in lockstep, and the pieces in which memory comes to them.
struct LockstepMachine {
  const ExecutionModel* execution = nullptr;  // not null
  int64_t width = 1;                          // so many consecutive threads are one group; >= 1
  int64_t sector_bytes = 32;
  /// What one instruction of a thread loads or stores at most: vectors that is_one_access() of so many bytes
  /// (vector_access.h) are one, others are accessed lane by lane.
  int64_t access_bytes = 16;
};

/// An access of a group. Means over groups of the first block, at the first iterations of the loops
/// that the threads go round.
struct LockstepAccess {
  /// That make the access: conditions and masks leave the others out.
  double threads = 0.0;
  double bytes = 0.0;    // different ones that these ask for
  int instructions = 1;  // of each thread: more than 1 for the lanes of a vector that is not one access
  /// Different pieces of memory in which the bytes lie, of all instructions together.
  double sectors = 0.0;
  /// How often the memory is accessed: 1 where no two threads want different words of one bank. Accesses of
  /// more bytes than the banks deliver at once are made in so many phases. Of all instructions together; 0
  /// for memory without banks.
  double wavefronts = 0.0;

  /// Of the bytes of the sectors those that are asked for; 1 without an access. Less where instructions ask
  /// for the same sectors one after the other.
  double used_share(int64_t sector_bytes) const {
    return sectors > 0.0 ? bytes / (sectors * static_cast<double>(sector_bytes)) : 1.0;
  }
};

/// Of an access in a lowered program (one index an access). Threads are numbered as the axes of the levels
/// that synchronise are: the first axis of the innermost level varies fastest. A buffer begins at address 0
/// of its scope, as its scope's alignment makes it. Nothing where an address or a condition is read from
/// memory.
std::optional<LockstepAccess> lockstep_access(const Stmt& stmt, const AccessSite& access,
                                              const LockstepMachine& machine);

}  // namespace tunesmith
