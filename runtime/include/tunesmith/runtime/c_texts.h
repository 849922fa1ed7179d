// C texts that all built libraries share; @NAME@ stands for the library's name.
#pragma once

#include <string>
#include <string_view>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

inline std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Escapes a user's text for a C comment.
inline std::string c_comment(const std::string& text) {
  return replace_all(replace_all(text, "*/", "* /"), "\n", "\n   ");
}

/// The type codes of DLPack.
inline int dlpack_code(DType type) {
  switch (type.code) {
    case TypeCode::Int:
      return 0;
    case TypeCode::UInt:
      return 1;
    case TypeCode::Float:
      return 2;
    case TypeCode::BFloat:
      return 4;
    case TypeCode::Bool:
      return 6;
    case TypeCode::Index:
      break;
  }
  throw InternalError("an element type without a DLPack code");
}

/// The types in a library's header: tensors, and the caller's thread pool.
inline constexpr const char* kTensorTypesText =
    R"(/* The parts of DLPack 0.8 that are used here. Include <dlpack/dlpack.h> first, if at all. */
#if !defined(DLPACK_DLPACK_H_) && !defined(TUNESMITH_DLTENSOR)
#define TUNESMITH_DLTENSOR
enum { kDLCPU = 1 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
#endif

#ifndef TUNESMITH_KERNEL_ABI_H
/* Iterations [begin, end) of a parallel loop. */
typedef void (*tunesmith_loop_body)(void* closure, int64_t begin, int64_t end);
/* Runs body over [0, count) on any threads of `pool`, in chunks, and returns when all is done. */
typedef void (*tunesmith_parallel_for)(void* pool, int64_t count, tunesmith_loop_body body, void* closure);
#endif

)";

/// The threads that run parallel loops, and memory for the calls. Requires the
/// includes pthread.h, stdatomic.h and stdlib.h, a macro EXPORTED and a constant
/// kWorkspaceBytes. Defines and exports the library's set_parallel_for.
inline constexpr const char* kThreadsText = R"(extern void* tunesmith_runtime_pool_create(int threads);
extern void tunesmith_runtime_pool_destroy(void* pool);
extern void tunesmith_runtime_parallel_for(void* pool, int64_t count, tunesmith_loop_body body, void* closure);
extern uint64_t tunesmith_runtime_float_mode(void);
extern void tunesmith_runtime_set_float_mode(uint64_t mode);
extern uint64_t tunesmith_runtime_default_float_mode(void);

static tunesmith_parallel_for own_parallel_for;
static void* own_pool;

static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(void*) pool;

static void lock_pool(void) { pthread_mutex_lock(&pool_mutex); }
static void unlock_pool(void) { pthread_mutex_unlock(&pool_mutex); }
/* Threads do not follow into a child process. */
static void forget_pool(void) {
  atomic_store(&pool, NULL);
  unlock_pool();
}

static void* get_pool(void) {
  void* present = atomic_load_explicit(&pool, memory_order_acquire);
  if (present != NULL) return present;
  static int watching_forks;
  lock_pool();
  present = atomic_load(&pool);
  if (present == NULL) {
    if (!watching_forks) watching_forks = pthread_atfork(lock_pool, unlock_pool, forget_pool) == 0;
    present = tunesmith_runtime_pool_create(0);
    atomic_store(&pool, present);
  }
  unlock_pool();
  return present;
}

/* One workspace is kept; concurrent calls allocate their own. */
static _Atomic(void*) kept_workspace;

static void* take_workspace(void) {
  void* workspace = atomic_exchange(&kept_workspace, NULL);
  return workspace != NULL ? workspace : aligned_alloc(64, (kWorkspaceBytes + 63) / 64 * 64);
}

static void give_workspace_back(void* workspace) {
  void* empty = NULL;
  if (!atomic_compare_exchange_strong(&kept_workspace, &empty, workspace)) free(workspace);
}

__attribute__((destructor)) static void clean_up(void) {
  tunesmith_runtime_pool_destroy(atomic_exchange(&pool, NULL));
  free(atomic_exchange(&kept_workspace, NULL));
}

EXPORTED void @NAME@_set_parallel_for(tunesmith_parallel_for parallel_for, void* given_pool) {
  own_parallel_for = parallel_for;
  own_pool = given_pool;
}

/* A loop on the caller's threads, which may be in any floating-point mode. */
struct chunk {
  tunesmith_loop_body body;
  void* closure;
};

static void run_chunk(void* closure, int64_t begin, int64_t end) {
  const struct chunk* chunk = closure;
  const uint64_t found = tunesmith_runtime_float_mode();
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  chunk->body(chunk->closure, begin, end);
  tunesmith_runtime_set_float_mode(found);
}

static void run_by_the_caller(void* given_pool, int64_t count, tunesmith_loop_body body, void* closure) {
  struct chunk chunk = {body, closure};
  own_parallel_for(given_pool, count, run_chunk, &chunk);
}

)";

/// Checks a caller's tensor; returns one of the library's codes.
inline constexpr const char* kCheckText =
    R"(static int tunesmith_check(const DLTensor* tensor, int ndim, const int64_t* shape, int code, int bits, void** data) {
  if (tensor == NULL) return @NAME@_NULL_ARGUMENT;
  if (tensor->device.device_type != kDLCPU) return @NAME@_WRONG_DEVICE;
  if (tensor->dtype.code != code || tensor->dtype.bits != bits || tensor->dtype.lanes != 1) return @NAME@_WRONG_TYPE;
  if (tensor->ndim != ndim) return @NAME@_WRONG_RANK;
  if (tensor->shape == NULL && ndim > 0) return @NAME@_NULL_ARGUMENT;
  int64_t elements = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    if (tensor->shape[i] != shape[i]) return @NAME@_WRONG_SHAPE;
    if (tensor->strides != NULL && shape[i] != 1 && tensor->strides[i] != elements) return @NAME@_NOT_CONTIGUOUS;
    elements *= shape[i];
  }
  if (tensor->data == NULL) return @NAME@_NULL_ARGUMENT;
  *data = (char*)tensor->data + tensor->byte_offset;
  return (uintptr_t)*data % ((bits + 7) / 8) == 0 ? @NAME@_OK : @NAME@_MISALIGNED;
}

)";

/// Sets the process up for the kernels' instructions. Its calls
/// must be filled in: a condition that holds if all succeeded.
inline constexpr const char* kSetUpText = R"(/* Once in a process; again where it has failed. */
static int set_up(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static atomic_int done;
  if (atomic_load_explicit(&done, memory_order_acquire)) return 1;
  pthread_mutex_lock(&mutex);
  if (!atomic_load(&done)) atomic_store(&done, @SETUP_CALLS@);
  const int is_done = atomic_load(&done);
  pthread_mutex_unlock(&mutex);
  return is_done;
}

)";
inline constexpr const char* kSetUpFirst = "  if (!set_up()) return @NAME@_SETUP_FAILED;\n";

}  // namespace tunesmith
