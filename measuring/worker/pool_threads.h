// Makes the threads of a pool take part in its loops, whatever the caller could do sooner.
#pragma once

#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// While it exists, each thread of a pool runs its own chunks: one that the caller runs does not exercise the
/// intended thread, which may lack its set-up. No loop may be running at its ends.
class EveryThreadAtWork {
 public:
  explicit EveryThreadAtWork(tunesmith_runtime_pool* pool) : pool_(pool) {
    tunesmith_runtime_pool_set_stealing(pool_, 0);
  }
  ~EveryThreadAtWork() { tunesmith_runtime_pool_set_stealing(pool_, 1); }
  EveryThreadAtWork(const EveryThreadAtWork&) = delete;
  EveryThreadAtWork& operator=(const EveryThreadAtWork&) = delete;

 private:
  tunesmith_runtime_pool* pool_;
};

/// Returns when all threads of the pool run. One that sleeps may wait a millisecond for a processor, and
/// meanwhile the caller runs its chunks: loops then take the time of fewer threads. Ignores null.
inline void wake_threads(tunesmith_runtime_pool* pool) {
  if (pool == nullptr) return;
  const EveryThreadAtWork every_thread(pool);
  const auto nothing = [](void*, int64_t, int64_t) {};
  tunesmith_runtime_parallel_for(pool, tunesmith_runtime_pool_threads(pool), nothing, nullptr);
}

}  // namespace tunesmith
