#include "worker/verifying_pool.h"

#include <algorithm>
#include <cstddef>

#include <pthread.h>

namespace tunesmith {
namespace {

/// The minimum stack of a verifying thread: what a kernel
/// may use, the poison, and the thread's own variables.
constexpr size_t kLittleStack = size_t{1} << 20;

}  // namespace

tunesmith_runtime_pool* make_verifying_pool(int threads) {
  pthread_attr_t usual;
  pthread_attr_t little;
  pthread_getattr_default_np(&usual);
  pthread_getattr_default_np(&little);
  pthread_attr_setstacksize(&little, kLittleStack);
  pthread_setattr_default_np(&little);
  tunesmith_runtime_pool* const pool = tunesmith_runtime_pool_create(std::max(threads, 2));
  pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&little);
  return pool;
}

}  // namespace tunesmith
