// Entries of kernels that are objects: the interface between a worker and a kernel is a plain function.
#pragma once

#include <cstddef>

#include "tunesmith/target/kernel_abi.h"

namespace tunesmith::cuda {

/// What an entry does. No exception may leave it.
class BufferCall {
 public:
  virtual void call(void* const* buffers, void* workspace) = 0;

 protected:
  ~BufferCall() = default;
};

/// One of the functions that there are, for as long as this lives: it calls `owner`.
class EntrySlot {
 public:
  /// Throws EnvironmentError when too many candidates are loaded at once.
  explicit EntrySlot(BufferCall& owner);
  ~EntrySlot();
  EntrySlot(const EntrySlot&) = delete;
  EntrySlot& operator=(const EntrySlot&) = delete;

  tunesmith_kernel entry() const;

 private:
  size_t slot_;
};

}  // namespace tunesmith::cuda
