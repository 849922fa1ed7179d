// Memory that a kernel's preparation fills and the kernel reads.
#pragma once

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith {

/// Faults in it are accesses out of bounds while it lives.
class PreparedMemory {
 public:
  /// Aligned to 64 and filled with `poison`: what is not prepared shows. Throws EnvironmentError when the
  /// memory is not to be had.
  PreparedMemory(int64_t bytes, Placement placement, std::byte poison);
  ~PreparedMemory();
  PreparedMemory(const PreparedMemory&) = delete;
  PreparedMemory& operator=(const PreparedMemory&) = delete;

  std::byte* data() const { return memory_.data(); }
  /// False when somebody wrote before the first byte, or behind the last.
  bool check_canary() const { return memory_.check_canary(); }
  /// From now on it is only read.
  void protect() { memory_.set_read_only(true); }
  /// It may be prepared anew.
  void unprotect() { memory_.set_read_only(false); }

 private:
  GuardedBuffer memory_;
};

}  // namespace tunesmith
