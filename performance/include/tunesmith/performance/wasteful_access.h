// Which accesses of a program for threads in lockstep take more of the memory than they ask for, in words.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/performance/lockstep_access.h"

namespace tunesmith {

/// An access that takes more sectors, or more wavefronts where its memory has banks, than its bytes fill.
struct WastefulAccess {
  const Stmt* stmt = nullptr;  // of the program
  std::string access;          // as the program prints it: "A[x*4 + k]"
  bool writes = false;
  int instructions = 1;     // LockstepAccess::instructions
  bool banked = false;      // wavefronts are counted, else sectors
  double needed = 0.0;      // by one group
  double taken = 0.0;       // by one group
  double executions = 0.0;  // how often all groups of the launch together make it, at most
  int64_t step_bytes = 0;   // from one thread's address to the next one's; 0 where that differs
};

/// Of a lowered program, what wastes most first. Accesses of which no address can be told are left out.
std::vector<WastefulAccess> wasteful_accesses(const Program& lowered, const LockstepMachine& machine);

/// "the load of A[x*16 + k] takes 32 sectors where 4 would do: neighbouring threads lie 64 bytes apart"
std::string to_string(const WastefulAccess& access);

}  // namespace tunesmith
