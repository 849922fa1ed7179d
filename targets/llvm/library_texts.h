// The C texts that library_source.cpp fills in: @NAME@ and
// others stand for parts that differ between libraries.
#pragma once

namespace tunesmith::llvm_target {

inline constexpr const char* kHeader = R"(/* @PROVENANCE@

   Made by Tunesmith. Link with lib@NAME@.so; nothing else is needed. All functions are thread-safe except @NAME@_set_parallel_for,
   which must not run concurrently with another one. Kernels run in the default floating-point mode (round to nearest, subnormal numbers
   kept, no traps); the caller's mode is restored. A kernel needs at most 512 KiB of stack on each thread that runs it, including the
   caller's. */
#ifndef TUNESMITH_LIBRARY_@NAME@_H
#define TUNESMITH_LIBRARY_@NAME@_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

@DLPACK@/* Return values of the functions; for an invalid argument, plus 256 times its position from 0. */
enum {
  @NAME@_OK = 0,
  @NAME@_NULL_ARGUMENT = 1,
  @NAME@_WRONG_DEVICE = 2,   /* not in CPU memory */
  @NAME@_WRONG_RANK = 3,
  @NAME@_WRONG_SHAPE = 4,
  @NAME@_WRONG_TYPE = 5,
  @NAME@_NOT_CONTIGUOUS = 6, /* not contiguous in row-major order */
  @NAME@_MISALIGNED = 7,     /* not aligned to an element */
  @NAME@_OUT_OF_MEMORY = 8,
  @NAME@_WRONG_PROCESSOR = 9 /* built for a processor with more instructions */@NOT_PREPARED@@SETUP_FAILED@
};

@PREPARE@/*@ARGUMENTS@@EXTENTS@

   Outputs are overwritten; they must not overlap each other or an input. */
int @NAME@(@PARAMETERS@);

/* The same without checks, on the data pointers of the arguments in this order@LAST_POINTER@. */
int @NAME@_raw(void* const* buffers);

/* Bytes of workspace that a call allocates; it is kept for the next call. */
size_t @NAME@_workspace_bytes(void);

/* Sets the function that runs parallel loops; null restores the library's threads, one per processor available to the process. */
void @NAME@_set_parallel_for(tunesmith_parallel_for parallel_for, void* pool);

#ifdef __cplusplus
}
#endif
#endif
)";

inline constexpr const char* kNotPrepared = R"(
  , @NAME@_NOT_PREPARED = 10 /* memory not filled by @NAME@_prepare of this library */)";

inline constexpr const char* kSetupFailed = R"(
  , @NAME@_SETUP_FAILED = 11 /* set-up of the process or a thread failed: @PARTS@; a thread's failure is permanent */)";

/// The part of the header for libraries with a preparation.
inline constexpr const char* kPrepareHeader =
    R"(/* Computations on constant inputs are done once, before the calls, into memory owned by the caller:

     void* prepared = aligned_alloc(64, @NAME@_prepared_bytes());
     @NAME@_prepare(@TAKEN@, prepared);

   @NAME@ only reads it: any number of calls on any threads may share it; each set of constant inputs needs its own. Prepare again when
   these inputs change. It is valid for this build of the library only, which @NAME@ checks; the caller frees it.@UNREAD@ */
int @NAME@_prepare(@PREPARE_PARAMETERS@);

/* A multiple of 64. */
size_t @NAME@_prepared_bytes(void);

/* The same as @NAME@_prepare for the pointers of @NAME@_raw; those of other arguments are ignored. */
int @NAME@_prepare_raw(void* const* buffers);

)";

inline constexpr const char* kSource = R"(#define _GNU_SOURCE
#include "@NAME@.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void (*tunesmith_kernel_function)(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);
extern void @KERNEL@(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);
static const size_t kWorkspaceBytes = @WORKSPACE@;

@THREADS@static int runs_here(void) {
@PROCESSOR@  return 1;
}

EXPORTED size_t @NAME@_workspace_bytes(void) { return kWorkspaceBytes; }

@SETUP@static int run(tunesmith_kernel_function kernel, void* const* buffers) {
  if (!runs_here()) return @NAME@_WRONG_PROCESSOR;
@SET_UP@  void* workspace = NULL;
  if (kWorkspaceBytes > 0 && (workspace = take_workspace()) == NULL) return @NAME@_OUT_OF_MEMORY;
  const uint64_t found = tunesmith_runtime_float_mode();
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  if (own_parallel_for != NULL) {
    kernel(buffers, workspace, run_by_the_caller, own_pool);
  } else {
    kernel(buffers, workspace, tunesmith_runtime_parallel_for, get_pool());
  }
  tunesmith_runtime_set_float_mode(found);
  if (kWorkspaceBytes > 0) give_workspace_back(workspace);
@SETUP_FAULT@  return @NAME@_OK;
}

EXPORTED int @NAME@_raw(void* const* buffers) { return run(@KERNEL@, buffers); }
@PREPARE@
@CHECK_FUNCTION@/* Locals are prefixed so that no argument has their names. */
EXPORTED int @NAME@(@PARAMETERS@) {
  void* tunesmith_buffers[@POINTERS@];
  int tunesmith_wrong;
@CHECKS@  return @NAME@_raw(tunesmith_buffers);
}
)";

inline constexpr const char* kSetupDeclarations = R"(extern int64_t @SETUP_SYMBOL@(void);
extern _Atomic int64_t @FAULT_SYMBOL@;

)";
inline constexpr const char* kSetupFault =
    "  if (atomic_load(&@FAULT_SYMBOL@) != 0) return @NAME@_SETUP_FAILED;\n";

inline constexpr const char* kPrepareSource = R"(
extern void @PREPARE_KERNEL@(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);

/* Prepared memory ends with the id of its build, since another build may expect another layout. */
static const size_t kPreparedBytes = @PREPARED_BYTES@;
static const uint64_t kPreparedBy = @PREPARED_BY@;

EXPORTED size_t @NAME@_prepared_bytes(void) { return kPreparedBytes + 64; }

static int check_prepared(const void* prepared) {
  if (prepared == NULL) return @NAME@_NULL_ARGUMENT;
  return (uintptr_t)prepared % 64 == 0 ? @NAME@_OK : @NAME@_MISALIGNED;
}

EXPORTED int @NAME@_prepare_raw(void* const* buffers) {
  const int failed = run(@PREPARE_KERNEL@, buffers);
  if (failed == 0) *(uint64_t*)((char*)buffers[@COUNT@] + kPreparedBytes) = kPreparedBy;
  return failed;
}
)";

inline constexpr const char* kPrepareFunction = R"(
EXPORTED int @NAME@_prepare(@PREPARE_PARAMETERS@) {
  void* tunesmith_buffers[@COUNT@ + 1] = {NULL};
  int tunesmith_wrong;
@PREPARE_CHECKS@  return @NAME@_prepare_raw(tunesmith_buffers);
}
)";

}  // namespace tunesmith::llvm_target
