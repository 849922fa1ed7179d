// Plain functions as entries of kernels that are objects, for the interface between worker and kernel.
#pragma once

#include <cstddef>

#include "tunesmith/target/kernel_abi.h"

namespace tunesmith::cuda {

/// The implementation of an entry. No exception may leave it.
class BufferCall {
 public:
  virtual void call(void* const* buffers, void* workspace) = 0;

 protected:
  ~BufferCall() = default;
};

/// Reserves one of a fixed number of functions during its lifetime; the function calls `owner`.
class EntrySlot {
 public:
  /// Throws EnvironmentError if too many candidates are loaded at once.
  explicit EntrySlot(BufferCall& owner);
  ~EntrySlot();
  EntrySlot(const EntrySlot&) = delete;
  EntrySlot& operator=(const EntrySlot&) = delete;

  tunesmith_kernel entry() const;

 private:
  size_t slot_;
};

}  // namespace tunesmith::cuda
