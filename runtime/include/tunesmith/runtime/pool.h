/* The thread pool that runs kernels' parallel loops, in the worker while measuring and in every built
   library. Plain C; depends only on pthreads.

   A pool runs one parallel loop at a time, on its threads and the caller. A concurrent or nested call runs
   its whole loop on the calling thread. Each thread gets one contiguous chunk of iterations, of nearly equal
   size. Idle threads spin for about a millisecond, so that successive loops start in well under a
   microsecond, and then sleep. Where the caller may use as many processors as the pool has threads, threads
   that wake may use these except the caller's current one. A pool does not survive fork(): the child must
   create its own.

   Each chunk runs in the floating-point mode of the calling thread, and a mode that a chunk changes is
   restored after it. */
#ifndef TUNESMITH_RUNTIME_POOL_H
#define TUNESMITH_RUNTIME_POOL_H

#include <stdint.h>

#include "tunesmith/target/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tunesmith_runtime_pool tunesmith_runtime_pool;

/* Creates a pool of `threads` threads, including the caller; 0: one for each processor that this process may
   use. It has fewer if the system cannot start them. Null only if there is not enough memory. */
tunesmith_runtime_pool* tunesmith_runtime_pool_create(int threads);

/* Ends the threads. No loop may be running. Ignores null. */
void tunesmith_runtime_pool_destroy(tunesmith_runtime_pool* pool);

/* The number of threads, including the caller. */
int tunesmith_runtime_pool_threads(const tunesmith_runtime_pool* pool);

/* A tunesmith_parallel_for. `pool`: a tunesmith_runtime_pool, or null to run on the calling thread only. */
void tunesmith_runtime_parallel_for(void* pool, int64_t count, tunesmith_loop_body body, void* closure);

/* May the caller run the chunks of threads that have not started yet, as by default? If not, each thread runs
 * its own chunk: slower, but the loop uses all threads. Must not be called while a loop is running. */
void tunesmith_runtime_pool_set_stealing(tunesmith_runtime_pool* pool, int allowed);

/* Has a chunk changed its thread's floating-point mode since the last call? */
int tunesmith_runtime_pool_take_mode_change(tunesmith_runtime_pool* pool);

/* The calling thread's floating-point mode: rounding direction, treatment of subnormal numbers, enabled
 * traps; not the sticky exception flags. An encoding of the processor's control registers; always 0 on
 * unsupported processors. */
uint64_t tunesmith_runtime_float_mode(void);

/* Sets the calling thread's mode; cheap if it does not change. */
void tunesmith_runtime_set_float_mode(uint64_t mode);

/* The mode in which programs start and kernels are verified: rounding to nearest, subnormal numbers kept, no
 * traps. */
uint64_t tunesmith_runtime_default_float_mode(void);

#ifdef __cplusplus
}
#endif
#endif
