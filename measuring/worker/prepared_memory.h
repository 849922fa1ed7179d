// Memory that a kernel's preparation fills and the kernel reads.
#pragma once

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith {

/// While it lives, faults in it are accesses out of bounds.
class PreparedMemory {
 public:
  /// Aligned to 64 and filled with `poison`, which shows unprepared
  /// bytes. Throws EnvironmentError if there is not enough memory.
  PreparedMemory(int64_t bytes, Placement placement, std::byte poison);
  ~PreparedMemory();
  PreparedMemory(const PreparedMemory&) = delete;
  PreparedMemory& operator=(const PreparedMemory&) = delete;

  std::byte* data() const { return memory_.data(); }
  /// False if the program wrote before the first byte or after the last.
  bool check_canary() const { return memory_.check_canary(); }
  /// Makes it read-only.
  void protect() { memory_.set_read_only(true); }
  /// Makes it writable again.
  void unprotect() { memory_.set_read_only(false); }

 private:
  GuardedBuffer memory_;
};

}  // namespace tunesmith
