#include "worker/call_resources.h"

#include "worker/verifying_pool.h"
#include "worker/worker_faults.h"

namespace tunesmith {

CallResources::CallResources(int threads)
    : pool_(tunesmith_runtime_pool_create(threads), tunesmith_runtime_pool_destroy),
      verifying_(make_verifying_pool(tunesmith_runtime_pool_threads(pool_.get())),
                 tunesmith_runtime_pool_destroy) {}

GuardedBuffer* CallResources::sized(int64_t bytes, std::unique_ptr<GuardedBuffer>& into) {
  if (bytes == 0) return nullptr;
  if (!into || into->bytes() != bytes) {
    if (into) unwatch(*into);
    into.reset();
    into = std::make_unique<GuardedBuffer>(bytes, 64);
    watch_for_faults(*into);
  }
  return into.get();
}

}  // namespace tunesmith
