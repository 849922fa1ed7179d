// Memory that a kernel's preparation fills, twice: for the call that is verified and for those that are
// timed.
#pragma once

#include "measure/guarded_buffer.h"

namespace tunesmith {

/// Faults in it are accesses out of bounds while it lives.
class PreparedMemory {
 public:
  /// Filled with what is a NaN in every floating type: what is not prepared shows. Throws EnvironmentError
  /// when the memory is not to be had.
  explicit PreparedMemory(int64_t bytes);
  ~PreparedMemory();
  PreparedMemory(const PreparedMemory&) = delete;
  PreparedMemory& operator=(const PreparedMemory&) = delete;

  std::byte* data(bool guarded) const { return guarded ? guarded_.data() : aligned_.data(); }
  /// False when somebody wrote before the first byte.
  bool check_canary() const { return guarded_.check_canary(); }
  /// From now on it is only read.
  void protect();

 private:
  GuardedBuffer guarded_;  // ends at a guard page
  GuardedBuffer aligned_;  // begins on a page
};

}  // namespace tunesmith
