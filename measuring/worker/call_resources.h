// Threads and workspaces for calling kernels.
#pragma once

#include <cstdint>
#include <memory>

#include "tunesmith/runtime/pool.h"
#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith {

class CallResources {
 public:
  /// `threads`: for the timed calls; 0: all that this process may use.
  explicit CallResources(int threads);

  /// For the timed calls.
  tunesmith_runtime_pool* pool() const { return pool_.get(); }
  /// For verifying calls: several threads with small stacks, independent of the number used for measuring,
  /// since a library may be called with any number.
  tunesmith_runtime_pool* verifying_pool() const { return verifying_.get(); }

  /// Null for no bytes. Its end is at the guard page for each kernel, so each size has its own
  /// buffer, which replaces the previous one. Throws EnvironmentError if there is not enough memory.
  GuardedBuffer* workspace(int64_t bytes) { return sized(bytes, workspace_); }
  /// For a second call at the same time.
  GuardedBuffer* second_workspace(int64_t bytes) { return sized(bytes, second_workspace_); }

 private:
  using Pool = std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)>;
  static GuardedBuffer* sized(int64_t bytes, std::unique_ptr<GuardedBuffer>& into);

  Pool pool_;
  Pool verifying_;
  std::unique_ptr<GuardedBuffer> workspace_;
  std::unique_ptr<GuardedBuffer> second_workspace_;
};

}  // namespace tunesmith
