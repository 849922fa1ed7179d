// Describes accesses of lockstep threads that use more of the memory than they request.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/performance/lockstep_access.h"

namespace tunesmith {

/// An access that takes more sectors (or wavefronts, if its memory has banks) than its bytes need.
struct WastefulAccess {
  const Stmt* stmt = nullptr;  // of the program
  std::string access;          // as the program prints it: "A[x*4 + k]"
  bool writes = false;
  int instructions = 1;     // LockstepAccess::instructions
  bool banked = false;      // in wavefronts, else in sectors
  double needed = 0.0;      // per group
  double taken = 0.0;       // per group
  double executions = 0.0;  // upper bound, over all groups of the launch
  int64_t step_bytes = 0;   // between the addresses of neighbouring threads; 0 if that varies
};

/// For a lowered program, the most wasteful first. Accesses with unknown addresses are omitted.
std::vector<WastefulAccess> wasteful_accesses(const Program& lowered, const LockstepMachine& machine);

/// "the load of A[x*16 + k] takes 32 sectors where 4 would do: neighbouring threads lie 64 bytes apart"
std::string to_string(const WastefulAccess& access);

}  // namespace tunesmith
