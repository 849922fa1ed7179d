/* The C interface of a compiled kernel, called by the worker or by a built library. */
#ifndef TUNESMITH_KERNEL_ABI_H
#define TUNESMITH_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Iterations [begin, end) of a parallel loop. */
typedef void (*tunesmith_loop_body)(void* closure, int64_t begin, int64_t end);

/* Runs body over [0, count) in chunks, on any threads of `pool`, and returns when all have finished.
 * `closure` is valid until then. */
typedef void (*tunesmith_parallel_for)(void* pool, int64_t count, tunesmith_loop_body body, void* closure);

/* A kernel, or its preparation. `buffers` are, in order:
   - data pointers of the inputs, then of the outputs, in the program's order, row-major, each aligned to its
     element at least;
   - if the kernel has a preparation: the prepared memory, aligned to 64 bytes. The preparation fills it from
     constant inputs and accesses no other buffer; the kernel only reads it;
   - if the program has parameters: a pointer to their values, one int64_t each, which the kernel does not
     check.
   Pointers of buffers that are not accessed may be null. `workspace`: the number of bytes that the kernel
   needs, aligned to 64 bytes, contents unspecified before and after; null if it needs none. */
typedef void (*tunesmith_kernel)(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for,
                                 void* pool);

/* Sets the process up for the instructions of a kernel. May be called again; by one thread at a time. Returns
   0, or p * 2^32 + r if part p (from 1) failed with the 32-bit result r. */
typedef int64_t (*tunesmith_setup)(void);

#ifdef __cplusplus
}
#endif
#endif
