/* The C interface of a compiled kernel: between the worker and a candidate, and between a built library and
 * its runtime. Plain C. */
#ifndef TUNESMITH_KERNEL_ABI_H
#define TUNESMITH_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Iterations [begin, end) of a parallel loop. */
typedef void (*tunesmith_loop_body)(void* closure, int64_t begin, int64_t end);

/* Runs body over [0, count) on any threads of `pool`, in chunks, and returns when all is done. `closure` is
 * valid until then. */
typedef void (*tunesmith_parallel_for)(void* pool, int64_t count, tunesmith_loop_body body, void* closure);

/* A kernel, or what prepares for one. `buffers`: the data pointers of the inputs, then of the outputs, in the
   program's order, row-major and aligned at least to their element, then, where there is something to
   prepare, the prepared memory, aligned to 64: preparing fills it from constant inputs and touches no other
   buffer, the kernel only reads it; then, for a program with parameters, a pointer to their values, an
   int64_t each, which the kernel trusts. Pointers of buffers that are not touched may be null. `workspace`:
   as many bytes as the kernel needs, aligned to 64, contents unspecified before and after (null when it needs
   none). */
typedef void (*tunesmith_kernel)(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for,
                                 void* pool);

/* Makes the process ready for the instructions of a kernel; may be called again, by one thread at a time.
   Returns 0, or the number of the part that failed, from 1, times 2^32, plus the 32 bits that it answered. */
typedef int64_t (*tunesmith_setup)(void);

#ifdef __cplusplus
}
#endif
#endif
