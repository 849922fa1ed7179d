/* The thread pool that runs a kernel's parallel loops: in the worker while measuring, and inside every built
   library. Plain C, no dependency but pthreads.

   Threads: a pool takes one parallel loop at a time; a call that comes while another is under way (from
   another thread, or from inside a loop body) runs its whole loop on the calling thread. The caller is one of
   the threads. Iterations are dealt out in contiguous chunks of nearly equal size, one to a thread. Idle
   threads spin for about a millisecond, so that the loops of one kernel, or of kernels called one after the
   other, start in well under a microsecond; then they sleep. Affinity is left alone. A pool does not survive
   fork(): the child must make its own.

   Each chunk of a loop runs in the floating-point mode of the thread that called, whatever mode the pool's
   thread was started in, and a mode that a chunk leaves changed does not outlive it. */
#ifndef TUNESMITH_RUNTIME_POOL_H
#define TUNESMITH_RUNTIME_POOL_H

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

/* May the caller run the chunks of threads that have not begun (the default)? Where it may not, each thread
 * runs its own chunk, however long that takes to begin: slower, but every thread is seen at work. Not while a
 * loop is under way. */
void tunesmith_runtime_pool_set_stealing(tunesmith_runtime_pool* pool, int allowed);

/* Has a chunk left its thread in another floating-point mode since the last question? */
int tunesmith_runtime_pool_take_mode_change(tunesmith_runtime_pool* pool);

/* How the calling thread computes with floating-point numbers: in which direction it rounds, what becomes of
 * subnormal numbers, which exceptions trap. Which exceptions have occurred is no part of it. A number of the
 * processor's; always 0 on a processor that this file's source does not know. */
uint64_t tunesmith_runtime_float_mode(void);

/* For the calling thread; a mode that it has already costs next to nothing. */
void tunesmith_runtime_set_float_mode(uint64_t mode);

/* The one in which programs start and kernels are verified: rounding to nearest, subnormal numbers kept,
 * nothing traps. */
uint64_t tunesmith_runtime_default_float_mode(void);

#ifdef __cplusplus
}
#endif
#endif
