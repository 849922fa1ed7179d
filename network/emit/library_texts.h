// The C texts of a network's library; @NAME@ and similar marks are replaced.
#pragma once

namespace tunesmith::network {

inline constexpr const char* kHeader = R"(/* @PROVENANCE@

   Made by Tunesmith. Link with lib@NAME@.so, which needs libc, libm and pthread.

     @NAME@_model* model;
     if (@NAME@_open("@NAME@.weights", &model) != @NAME@_OK) ...
     @NAME@_run(model, inputs, outputs, NULL);
     @NAME@_close(model);

   A model is immutable: any number of threads may run it at once. Kernels run in the default floating-point mode (round to nearest, subnormal
   numbers kept, no traps); the caller's mode is restored. A kernel needs at most 512 KiB of stack on each thread that runs it, including the caller's. */
#ifndef TUNESMITH_NETWORK_@NAME@_H
#define TUNESMITH_NETWORK_@NAME@_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

@TENSOR_TYPES@/* Return values of the functions. For an invalid argument of @NAME@_run, plus 256 times its position from 0: inputs, then outputs, then
   the workspace. */
enum {
  @NAME@_OK = 0,
  @NAME@_NULL_ARGUMENT = 1,
  @NAME@_WRONG_DEVICE = 2,    /* not in CPU memory */
  @NAME@_WRONG_RANK = 3,
  @NAME@_WRONG_SHAPE = 4,
  @NAME@_WRONG_TYPE = 5,
  @NAME@_NOT_CONTIGUOUS = 6,  /* not contiguous in row-major order */
  @NAME@_MISALIGNED = 7,      /* a tensor not aligned to an element, or a workspace not to 64 bytes */
  @NAME@_OUT_OF_MEMORY = 8,
  @NAME@_WRONG_PROCESSOR = 9, /* built for a processor with more instructions */
  @NAME@_NO_FILE = 10,        /* cannot read the weights; see errno */
  @NAME@_WRONG_WEIGHTS = 11,  /* not this library's weights file, or damaged */
  @NAME@_SETUP_FAILED = 12    /* the process or a thread could not enable a kernel's instructions */
};

typedef struct @NAME@_model @NAME@_model;

/* Maps the weights file and checks its header. */
int @NAME@_open(const char* weights_file, @NAME@_model** model);
void @NAME@_close(@NAME@_model* model);
/* Reads all weights and compares their hash: @NAME@_OK or @NAME@_WRONG_WEIGHTS. */
int @NAME@_check_weights(const @NAME@_model* model);

enum { @NAME@_INPUTS = @INPUTS@, @NAME@_OUTPUTS = @OUTPUTS@ };
/*@ARGUMENTS@@EXTENTS@

   `inputs` and `outputs` point to that many tensors, in this order. Outputs are overwritten; they must not overlap each other or an input.
   `workspace`: @NAME@_workspace_bytes() bytes, aligned to 64, that no concurrent call uses; null: the library allocates and keeps it. */
int @NAME@_run(const @NAME@_model* model, const DLTensor* const* inputs, DLTensor* const* outputs, void* workspace);

/* A multiple of 64@HIGHEST@. */
size_t @NAME@_workspace_bytes(void);

@OUTPUT_SHAPE@/* Sets the function that runs parallel loops; null restores the library's threads, one per processor available to the process. Must not be
   called during a run. */
void @NAME@_set_parallel_for(tunesmith_parallel_for parallel_for, void* pool);

/* The kernels of a call in order, and what they compute. Kernels of a loop run repeatedly. */
int @NAME@_steps(void);
const char* @NAME@_step_name(int step);
/* Like @NAME@_run, but calls `observer` before the first step (step -1, no buffers) and after each step with the kernel's buffers: inputs,
   outputs, and prepared constants. */
typedef void (*@NAME@_observer)(void* context, int step, void* const* buffers);
int @NAME@_run_observed(const @NAME@_model* model, const DLTensor* const* inputs, DLTensor* const* outputs, void* workspace, @NAME@_observer observer,
                        void* context);

#ifdef __cplusplus
}
#endif
#endif
)";

inline constexpr const char* kSource = R"(#define _GNU_SOURCE
#include "@NAME@.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void (*tunesmith_kernel_function)(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);
extern int tunesmith_runs_here(void);
static const size_t kWorkspaceBytes = @ARENA@;

@THREADS@@KERNELS@
enum place { kInput, kOutput, kArena, kWeights };
struct buffer {
  enum place place;
  int64_t at, begin, advance, period;
};
static const struct buffer buffers_of_steps[] = {
@BUFFERS@  {kArena, 0, 0, 0, 1}};
struct step {
  tunesmith_kernel_function kernel;
  const struct buffer* buffers;
  int count;
  int64_t workspace;
  int back_to; /* after this step, until the trips are done */
  int64_t trips;
  const char* name;
};
static const struct step steps[] = {
@STEPS@  {NULL, NULL, 0, 0, 0, 1, NULL}};
enum { kSteps = @STEP_COUNT@ };

struct argument {
  int rank;
  const int64_t* shape;
  int code, bits;
};
@SHAPES@static const struct argument arguments[] = {
@ARGUMENT_TYPES@  {0, NULL, 0, 0}};

struct head {
  char magic[8];
  uint64_t version, bytes, hash;
  char unused[32];
};
static const struct head kHead = {"TSWEIGHT", 1, @WEIGHT_BYTES@u, @WEIGHT_HASH@u, {0}};

struct @NAME@_model {
  const char* weights;
  void* mapped;
  size_t bytes;
};

enum { kLargePage = 2 << 20 };

/* A call reads all weights, from memory, which misses the TLB less with large pages where the file system keeps them. They need an address that is a multiple of their size. */
static void* map_file(int descriptor, size_t bytes) {
  char* const room = mmap(NULL, bytes + kLargePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  char* const place = (char*)(((uintptr_t)room + kLargePage - 1) / kLargePage * kLargePage);
  void* const mapped = mmap(place, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    munmap(room, bytes + kLargePage);
    return MAP_FAILED;
  }
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const end = place + (bytes + page - 1) / page * page;
  if (place > room) munmap(room, (size_t)(place - room));
  if (end < room + bytes + kLargePage) munmap(end, (size_t)(room + bytes + kLargePage - end));
  madvise(mapped, bytes, MADV_HUGEPAGE);
  return mapped;
}

static int map_weights(const char* file, @NAME@_model* model) {
  const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return @NAME@_NO_FILE;
  struct stat status;
  int answer = @NAME@_NO_FILE;
  if (fstat(descriptor, &status) == 0) {
    model->bytes = sizeof kHead + kHead.bytes;
    answer = (uint64_t)status.st_size == model->bytes ? @NAME@_OK : @NAME@_WRONG_WEIGHTS;
  }
  if (answer == @NAME@_OK) {
    model->mapped = map_file(descriptor, model->bytes);
    if (model->mapped == MAP_FAILED) answer = @NAME@_NO_FILE;
  }
  const int why = errno;
  close(descriptor);
  errno = why;
  if (answer != @NAME@_OK) return answer;
  if (memcmp(model->mapped, &kHead, sizeof kHead) != 0) {
    munmap(model->mapped, model->bytes);
    return @NAME@_WRONG_WEIGHTS;
  }
  madvise(model->mapped, model->bytes, MADV_WILLNEED);
  model->weights = (const char*)model->mapped + sizeof kHead;
  return @NAME@_OK;
}

EXPORTED int @NAME@_open(const char* weights_file, @NAME@_model** model) {
  if (weights_file == NULL || model == NULL) return @NAME@_NULL_ARGUMENT;
  *model = calloc(1, sizeof **model);
  if (*model == NULL) return @NAME@_OUT_OF_MEMORY;
  const int failed = map_weights(weights_file, *model);
  if (failed != @NAME@_OK) {
    free(*model);
    *model = NULL;
  }
  return failed;
}

EXPORTED void @NAME@_close(@NAME@_model* model) {
  if (model == NULL) return;
  munmap(model->mapped, model->bytes);
  free(model);
}

EXPORTED int @NAME@_check_weights(const @NAME@_model* model) {
  if (model == NULL) return @NAME@_NULL_ARGUMENT;
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < kHead.bytes; ++i) hash = (hash ^ (unsigned char)model->weights[i]) * 0x100000001b3u;
  return hash == kHead.hash ? @NAME@_OK : @NAME@_WRONG_WEIGHTS;
}

EXPORTED size_t @NAME@_workspace_bytes(void) { return kWorkspaceBytes; }
EXPORTED int @NAME@_steps(void) { return kSteps; }
EXPORTED const char* @NAME@_step_name(int step) { return step >= 0 && step < kSteps ? steps[step].name : NULL; }

@CHECK_FUNCTION@@READ_EXTENTS@
static int check_all(const DLTensor* const* inputs, DLTensor* const* outputs, void** data@TAKE_EXTENTS@) {
  for (int i = 0; i < @NAME@_INPUTS + @NAME@_OUTPUTS; ++i) {
    const DLTensor* tensor = i < @NAME@_INPUTS ? inputs[i] : outputs[i - @NAME@_INPUTS];
    const struct argument* type = &arguments[i];
@MAKE_SHAPE@    const int wrong = tunesmith_check(tensor, type->rank, @SHAPE@, type->code, type->bits, &data[i]);
    if (wrong != @NAME@_OK) return wrong + 256 * i;
  }
  return @NAME@_OK;
}

@SETUP@static void* at(const struct buffer* buffer, int64_t trip, void* const* data, char* arena, const char* weights) {
  const int64_t begin = buffer->begin + (buffer->advance == 0 ? 0 : buffer->advance * (trip % buffer->period));
  switch (buffer->place) {
    case kInput: return (char*)data[buffer->at] + begin;
    case kOutput: return (char*)data[@NAME@_INPUTS + buffer->at] + begin;
    case kArena: return arena + buffer->at + begin;
    default: return (void*)(weights + buffer->at + begin);
  }
}

EXPORTED int @NAME@_run_observed(const @NAME@_model* model, const DLTensor* const* inputs, DLTensor* const* outputs, void* workspace,
                                 @NAME@_observer observer, void* context) {
  if (model == NULL || (inputs == NULL && @NAME@_INPUTS > 0) || (outputs == NULL && @NAME@_OUTPUTS > 0)) return @NAME@_NULL_ARGUMENT;
  void* data[@NAME@_INPUTS + @NAME@_OUTPUTS + 1];
@CALL_READ_EXTENTS@  const int wrong = check_all(inputs, outputs, data@GIVE_EXTENTS@);
  if (wrong != @NAME@_OK) return wrong;
  if ((uintptr_t)workspace % 64 != 0) return @NAME@_MISALIGNED + 256 * (@NAME@_INPUTS + @NAME@_OUTPUTS);
  if (!tunesmith_runs_here()) return @NAME@_WRONG_PROCESSOR;
@SET_UP@  char* arena = workspace;
  if (arena == NULL && kWorkspaceBytes > 0 && (arena = take_workspace()) == NULL) return @NAME@_OUT_OF_MEMORY;
  const uint64_t found = tunesmith_runtime_float_mode();
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  const tunesmith_parallel_for parallel_for = own_parallel_for != NULL ? run_by_the_caller : tunesmith_runtime_parallel_for;
  void* const threads = own_parallel_for != NULL ? own_pool : get_pool();
  if (observer != NULL) observer(context, -1, NULL);
  int64_t trip = 0;
  for (int i = 0; i < kSteps; ++i) {
    const struct step* step = &steps[i];
    void* pointers[@MAX_BUFFERS@];
    for (int j = 0; j < step->count; ++j) pointers[j] = at(&step->buffers[j], trip, data, arena, model->weights);
@POINT_TO_EXTENTS@    step->kernel(pointers, arena + step->workspace, parallel_for, threads);
    if (observer != NULL) observer(context, i, pointers);
    if (step->trips == 1) continue;
    if (++trip < step->trips) i = step->back_to - 1;
    else trip = 0;
  }
  tunesmith_runtime_set_float_mode(found);
  if (workspace == NULL && arena != NULL) give_workspace_back(arena);
@SETUP_FAULTS@  return @NAME@_OK;
}

EXPORTED int @NAME@_run(const @NAME@_model* model, const DLTensor* const* inputs, DLTensor* const* outputs, void* workspace) {
  return @NAME@_run_observed(model, inputs, outputs, workspace, NULL, NULL);
}
)";

inline constexpr const char* kMain =
    R"(/* Runs the network @NAME@ on random inputs and prints what a call takes, and each of its steps.

     cc -O2 @NAME@_main.c -L. -l@NAME@ -Wl,-rpath,. -o @NAME@_main
     ./@NAME@_main [CALLS [WEIGHTS]]
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "@NAME@.h"

struct argument {
  const char* name;
  int rank;
  int64_t* shape;
  int code, bits;
};
@SHAPES@static const struct argument arguments[] = {
@ARGUMENT_TYPES@  {NULL, 0, NULL, 0, 0}};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Numbers from -1 to 1; integers 0 and 1, which are indices of anything. */
static void fill(void* data, int64_t elements, int code, int bits) {
  static unsigned state = 1;
  for (int64_t i = 0; i < elements; ++i) {
    state = state * 1664525u + 1013904223u;
    const unsigned drawn = state >> 8;
    if (code == kDLFloat && bits == 64) {
      ((double*)data)[i] = drawn / 8388608.0 - 1;
    } else if (code == kDLFloat && bits == 32) {
      ((float*)data)[i] = (float)(drawn / 8388608.0 - 1);
    } else if (bits == 16 && code != kDLInt && code != kDLUInt) { /* f16 or bf16: their exponents of one half, with any sign and fraction */
      ((uint16_t*)data)[i] = (uint16_t)(code == kDLFloat ? 0x3800 | (drawn & 0x83ff) : 0x3f00 | (drawn & 0x807f));
    } else {
      memset((char*)data + i * (bits / 8), 0, (size_t)(bits / 8));
      ((char*)data)[i * (bits / 8)] = (char)(drawn & 1);
    }
  }
}

static DLTensor make(const struct argument* type) {
  int64_t elements = 1;
  for (int i = 0; i < type->rank; ++i) elements *= type->shape[i];
  const size_t bytes = ((size_t)elements * (size_t)(type->bits / 8) + 63) / 64 * 64;
  DLTensor tensor = {aligned_alloc(64, bytes > 0 ? bytes : 64), {kDLCPU, 0}, type->rank, {(uint8_t)type->code, (uint8_t)type->bits, 1},
                     type->shape, NULL, 0};
  if (tensor.data == NULL) exit(1);
  memset(tensor.data, 0, bytes);
  fill(tensor.data, elements, type->code, type->bits);
  return tensor;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

/* Times of a step's calls lie one after the other. */
struct clock {
  double last;
  double* of_steps;
  int call, calls;
};
static void observe(void* context, int step, void* const* buffers) {
  (void)buffers;
  struct clock* clock = context;
  const double now = seconds();
  if (step >= 0 && clock->call >= 0) clock->of_steps[step * clock->calls + clock->call] += now - clock->last;
  clock->last = seconds();
}

enum { kWarmUp = 3 }; /* calls before those that are timed */

int main(int argc, char** argv) {
  const int calls = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 50;
  const char* file = argc > 2 ? argv[2] : "@NAME@.weights";
  @NAME@_model* model;
  int failed = @NAME@_open(file, &model);
  if (failed != @NAME@_OK) return fprintf(stderr, "%s: @NAME@_open answers %d\n", file, failed), 1;
  DLTensor tensors[@NAME@_INPUTS + @NAME@_OUTPUTS + 1];
  const DLTensor* inputs[@NAME@_INPUTS + 1];
  DLTensor* outputs[@NAME@_OUTPUTS + 1];
  for (int i = 0; i < @NAME@_INPUTS + @NAME@_OUTPUTS; ++i) {
    tensors[i] = make(&arguments[i]);
    if (i < @NAME@_INPUTS) inputs[i] = &tensors[i];
    else outputs[i - @NAME@_INPUTS] = &tensors[i];
  }
  double* times = calloc((size_t)calls, sizeof *times);
  struct clock clock = {0, calloc((size_t)calls * (size_t)@NAME@_steps() + 1, sizeof(double)), 0, calls};
  if (times == NULL || clock.of_steps == NULL) return 1;
  for (int i = -kWarmUp; i < calls; ++i) {
    const double begin = seconds();
    failed = @NAME@_run(model, inputs, outputs, NULL);
    if (failed != @NAME@_OK) return fprintf(stderr, "@NAME@_run answers %d\n", failed), 1;
    if (i >= 0) times[i] = seconds() - begin;
  }
  for (clock.call = -kWarmUp; clock.call < calls; ++clock.call) @NAME@_run_observed(model, inputs, outputs, NULL, observe, &clock);
  qsort(times, (size_t)calls, sizeof *times, compare);
  printf("%d calls: 10th percentile %.3f ms, median %.3f ms\nmedian of each step:\n", calls, 1e3 * times[calls / 10], 1e3 * times[calls / 2]);
  for (int i = 0; i < @NAME@_steps(); ++i) {
    double* of_step = &clock.of_steps[i * calls];
    qsort(of_step, (size_t)calls, sizeof *of_step, compare);
    printf("%10.3f us  %s\n", 1e6 * of_step[calls / 2], @NAME@_step_name(i));
  }
  @NAME@_close(model);
  return 0;
}
)";

}  // namespace tunesmith::network
