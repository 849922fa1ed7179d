/* The thread pool that runs a kernel's parallel loops: in the worker while measuring, and inside every built
   library. Plain C, no dependency but pthreads.

   Threads: a pool takes one parallel loop at a time; a call that comes while another is under way (from
   another thread, or from inside a loop body) runs its whole loop on the calling thread. The caller is one of
   the threads. Iterations are dealt out in contiguous chunks of nearly equal size, one to a thread. Idle
   threads spin for about a millisecond, so that the loops of one kernel, or of kernels called one after the
   other, start in well under a microsecond; then they sleep. Affinity is left alone. A pool does not survive
   fork(): the child must make its own. */
#ifndef TUNESMITH_TARGET_RUNTIME_H
#define TUNESMITH_TARGET_RUNTIME_H

#include <stdint.h>

#include "tunesmith/target/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tunesmith_runtime_pool tunesmith_runtime_pool;

/* A pool of `threads` threads, the caller among them; 0 means one for each processor that this process may
   use. Fewer when the system refuses to start them; null only when there is no memory. */
tunesmith_runtime_pool* tunesmith_runtime_pool_create(int threads);

/* Ends the threads. No loop may be under way. Null is ignored. */
void tunesmith_runtime_pool_destroy(tunesmith_runtime_pool* pool);

/* Threads that run, the caller included. */
int tunesmith_runtime_pool_threads(const tunesmith_runtime_pool* pool);

/* A tunesmith_parallel_for; `pool` is a tunesmith_runtime_pool, or null to run on the calling thread alone.
 */
void tunesmith_runtime_parallel_for(void* pool, int64_t count, tunesmith_loop_body body, void* closure);

#ifdef __cplusplus
}
#endif
#endif
