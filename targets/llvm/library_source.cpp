#include "library_source.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::llvm_target {

namespace {

struct Argument {
  Buffer buffer;
  std::string name;
  bool output = false;
};

bool is_reserved(const std::string& word) {
  static const std::set<std::string, std::less<>> words = {
      "auto",   "break",    "case",     "char",     "const", "continue", "default", "do",     "double",
      "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline", "int",
      "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static", "struct",
      "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while"};
  return words.contains(word);
}

std::vector<Argument> arguments_of(const Program& program) {
  std::vector<Argument> result;
  for (const Buffer& buffer : program.inputs) result.push_back({buffer, buffer->name, false});
  for (const Buffer& buffer : program.outputs) result.push_back({buffer, buffer->name, true});
  for (Argument& argument : result) {
    std::ranges::replace_if(
        argument.name, [](char c) { return c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0; },
        '_');
    if (is_reserved(argument.name)) argument.name += '_';
  }
  return result;
}

/// `prepared`: the last parameter, or "".
std::string parameters(const std::vector<Argument>& arguments, const char* prepared) {
  std::vector<std::string> list;
  for (const Argument& argument : arguments) {
    list.push_back(fmt::format("{}DLTensor* {}", argument.output ? "" : "const ", argument.name));
  }
  if (*prepared != '\0') list.emplace_back(prepared);
  return fmt::format("{}", fmt::join(list, ", "));
}

std::vector<Argument> prepared_from(const LibraryRequest& request) {
  const std::vector<Argument> all = arguments_of(*request.program);
  std::vector<Argument> taken;
  for (const size_t position : request.kernel->prepare->reads) taken.push_back(all[position]);
  return taken;
}

constexpr const char* kPrepared = "const void* tunesmith_prepared";
constexpr const char* kPreparedByPrepare = "void* tunesmith_prepared";

int dlpack_code(DType type) {
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
  }
  throw InternalError("an element type without a DLPack code");
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A person's text inside a C comment.
std::string comment(const std::string& text) {
  return replace_all(replace_all(text, "*/", "* /"), "\n", "\n   ");
}

constexpr const char* kHeader = R"(/* @PROVENANCE@

   Made by Tunesmith. Link with lib@NAME@.so; nothing else is needed. All functions may be called by several threads at once, but
   @NAME@_set_parallel_for, which must not run while another one does. */
#ifndef TUNESMITH_LIBRARY_@NAME@_H
#define TUNESMITH_LIBRARY_@NAME@_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The parts of DLPack 0.8 that are used here. Include <dlpack/dlpack.h> first, if at all. */
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

/* What the functions return: one of these, plus 256 times the position, from 0, of the argument that is wrong. */
enum {
  @NAME@_OK = 0,
  @NAME@_NULL_ARGUMENT = 1,
  @NAME@_WRONG_DEVICE = 2,   /* not in the memory of the CPU */
  @NAME@_WRONG_RANK = 3,
  @NAME@_WRONG_SHAPE = 4,
  @NAME@_WRONG_TYPE = 5,
  @NAME@_NOT_CONTIGUOUS = 6, /* not row-major without gaps */
  @NAME@_MISALIGNED = 7,     /* less than to an element */
  @NAME@_OUT_OF_MEMORY = 8,
  @NAME@_WRONG_PROCESSOR = 9 /* built for one with more instructions */@NOT_PREPARED@
};

@PREPARE@/*@ARGUMENTS@

   Outputs are overwritten; they may not overlap each other or an input. */
int @NAME@(@PARAMETERS@);

/* The same without checks: the data pointers of the arguments in that order@LAST_POINTER@. */
int @NAME@_raw(void* const* buffers);

/* Memory that each call takes for itself, in bytes; kept for the next one. */
size_t @NAME@_workspace_bytes(void);

/* Runs parallel loops by the caller's own means from now on; null goes back to the library's threads, one for each processor that the process
   may use. */
void @NAME@_set_parallel_for(tunesmith_parallel_for parallel_for, void* pool);

#ifdef __cplusplus
}
#endif
#endif
)";

constexpr const char* kNotPrepared = R"(
  , @NAME@_NOT_PREPARED = 10 /* memory that @NAME@_prepare of this very library has not filled */)";

/// What a header says where there is something to prepare.
constexpr const char* kPrepareHeader =
    R"(/* What depends on constant inputs alone is done once, ahead of the calls, into memory that belongs to the caller:

     void* prepared = aligned_alloc(64, @NAME@_prepared_bytes());
     @NAME@_prepare(@TAKEN@, prepared);

   @NAME@ only reads it: any number of calls, on any threads, share it, and each set of constant inputs has memory of its own. Prepare again when
   these inputs change. It holds for this build of the library only, which @NAME@ checks; the caller frees it.@UNREAD@ */
int @NAME@_prepare(@PREPARE_PARAMETERS@);

/* A multiple of 64. */
size_t @NAME@_prepared_bytes(void);

/* The same as @NAME@_prepare, for the pointers of @NAME@_raw: those of other arguments are not looked at. */
int @NAME@_prepare_raw(void* const* buffers);

)";

constexpr const char* kPrepareSource = R"(
extern void @PREPARE_KERNEL@(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);

/* Behind what the kernel reads stands whose it is: of another build it would be read in the wrong order. */
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

constexpr const char* kSource = R"(#define _GNU_SOURCE
#include "@NAME@.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void (*tunesmith_kernel_function)(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);
extern void @KERNEL@(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool);
extern void* tunesmith_runtime_pool_create(int threads);
extern void tunesmith_runtime_pool_destroy(void* pool);
extern void tunesmith_runtime_parallel_for(void* pool, int64_t count, tunesmith_loop_body body, void* closure);

static const size_t kWorkspaceBytes = @WORKSPACE@;

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

/* One workspace is kept; calls at the same time beyond the first make their own. */
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

static int runs_here(void) {
@PROCESSOR@  return 1;
}

EXPORTED size_t @NAME@_workspace_bytes(void) { return kWorkspaceBytes; }

EXPORTED void @NAME@_set_parallel_for(tunesmith_parallel_for parallel_for, void* given_pool) {
  own_parallel_for = parallel_for;
  own_pool = given_pool;
}

static int run(tunesmith_kernel_function kernel, void* const* buffers) {
  if (!runs_here()) return @NAME@_WRONG_PROCESSOR;
  void* workspace = NULL;
  if (kWorkspaceBytes > 0 && (workspace = take_workspace()) == NULL) return @NAME@_OUT_OF_MEMORY;
  if (own_parallel_for != NULL) {
    kernel(buffers, workspace, own_parallel_for, own_pool);
  } else {
    kernel(buffers, workspace, tunesmith_runtime_parallel_for, get_pool());
  }
  if (kWorkspaceBytes > 0) give_workspace_back(workspace);
  return @NAME@_OK;
}

EXPORTED int @NAME@_raw(void* const* buffers) { return run(@KERNEL@, buffers); }
@PREPARE@
static int tunesmith_check(const DLTensor* tensor, int ndim, const int64_t* shape, int code, int bits, void** data) {
  if (tensor == NULL) return @NAME@_NULL_ARGUMENT;
  if (tensor->device.device_type != kDLCPU) return @NAME@_WRONG_DEVICE;
  if (tensor->dtype.code != code || tensor->dtype.bits != bits || tensor->dtype.lanes != 1) return @NAME@_WRONG_TYPE;
  if (tensor->ndim != ndim) return @NAME@_WRONG_RANK;
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

/* Names of its own, which no argument has. */
EXPORTED int @NAME@(@PARAMETERS@) {
  void* tunesmith_buffers[@COUNT@ + 1];
  int tunesmith_wrong;
@CHECKS@  return @NAME@_raw(tunesmith_buffers);
}
)";

constexpr const char* kPrepareFunction = R"(
EXPORTED int @NAME@_prepare(@PREPARE_PARAMETERS@) {
  void* tunesmith_buffers[@COUNT@ + 1] = {NULL};
  int tunesmith_wrong;
@PREPARE_CHECKS@  return @NAME@_prepare_raw(tunesmith_buffers);
}
)";

std::string shape_text(const BufferNode& buffer) {
  return buffer.shape.empty() ? "1" : fmt::format("{}", fmt::join(buffer.shape, ", "));
}

/// Checks of one argument into its place among the buffers; `position` is the argument's, for the answer.
std::string check_of(const Argument& argument, size_t place, size_t position, bool may_be_null) {
  const BufferNode& buffer = *argument.buffer;
  const std::string check = fmt::format(
      "  static const int64_t tunesmith_shape{0}[] = {{{1}}};\n"
      "  tunesmith_wrong = tunesmith_check({2}, {3}, tunesmith_shape{0}, {4}, {5}, "
      "&tunesmith_buffers[{6}]);\n"
      "  if (tunesmith_wrong != 0) return tunesmith_wrong + 256 * {0};\n",
      position, shape_text(buffer), argument.name, buffer.shape.size(), dlpack_code(buffer.dtype),
      buffer.dtype.is_bool() ? 8 : buffer.dtype.bits, place);
  if (!may_be_null) return check;
  return fmt::format("  tunesmith_buffers[{}] = NULL;\n  if ({} != NULL) {{\n{}  }}\n", place, argument.name,
                     check);
}

/// Checks of prepared memory, likewise.
std::string check_of_prepared(size_t place, size_t position) {
  return fmt::format(
      "  tunesmith_wrong = check_prepared(tunesmith_prepared);\n"
      "  if (tunesmith_wrong != 0) return tunesmith_wrong + 256 * {};\n"
      "  tunesmith_buffers[{}] = (void*)tunesmith_prepared;\n",
      position, place);
}

std::string prepare_header(const LibraryRequest& request) {
  const std::vector<Argument> taken = prepared_from(request);
  const std::vector<Argument> all = arguments_of(*request.program);
  std::vector<std::string> names;
  for (const Argument& argument : taken) names.push_back(argument.name);
  std::vector<std::string> unread;
  for (const size_t position : request.kernel->prepare->unread) unread.push_back(all[position].name);
  std::string note;
  if (!unread.empty()) {
    note = fmt::format("\n   After that {} may be freed, and {} takes a null pointer for {}.",
                       fmt::join(unread, ", "), request.name, unread.size() == 1 ? "it" : "them");
  }
  std::string text = replace_all(kPrepareHeader, "@UNREAD@", note);
  text = replace_all(std::move(text), "@TAKEN@", fmt::format("{}", fmt::join(names, ", ")));
  return replace_all(std::move(text), "@PREPARE_PARAMETERS@", parameters(taken, kPreparedByPrepare));
}

/// The C text of a prepare step: what stands before the checks, and the function itself.
struct PrepareSource {
  std::string raw;
  std::string function;
};

PrepareSource prepare_source(const LibraryRequest& request) {
  if (!request.kernel->prepare) return {};
  const PrepareStep& step = *request.kernel->prepare;
  const std::vector<Argument> taken = prepared_from(request);
  const size_t last = request.program->inputs.size() + request.program->outputs.size();
  std::string checks;
  for (size_t i = 0; i < taken.size(); ++i) checks += check_of(taken[i], step.reads[i], i, false);
  checks += check_of_prepared(last, taken.size());
  PrepareSource source;
  source.raw = replace_all(kPrepareSource, "@PREPARE_KERNEL@", step.symbol);
  source.raw = replace_all(std::move(source.raw), "@PREPARED_BYTES@", std::to_string(step.bytes));
  source.raw = replace_all(std::move(source.raw), "@PREPARED_BY@",
                           fmt::format("0x{}ull", hex64(hash_bytes(request.kernel->object))));
  source.function = replace_all(kPrepareFunction, "@PREPARE_CHECKS@", checks);
  source.function =
      replace_all(std::move(source.function), "@PREPARE_PARAMETERS@", parameters(taken, kPreparedByPrepare));
  return source;
}

}  // namespace

std::string library_header(const LibraryRequest& request) {
  const std::vector<Argument> arguments = arguments_of(*request.program);
  std::string lines;
  for (const Argument& argument : arguments) {
    lines += fmt::format("\n   {} {}: {} [{}]", argument.output ? "output" : "input", argument.name,
                         argument.buffer->dtype.str(), fmt::join(argument.buffer->shape, ", "));
  }
  const std::optional<PrepareStep>& prepare = request.kernel->prepare;
  if (prepare) lines += "\n   tunesmith_prepared: what " + request.name + "_prepare has filled";
  std::string text = replace_all(kHeader, "@PREPARE@", prepare ? prepare_header(request) : "");
  text = replace_all(std::move(text), "@NOT_PREPARED@", prepare ? kNotPrepared : "");
  text = replace_all(std::move(text), "@NAME@", request.name);
  text = replace_all(std::move(text), "@ARGUMENTS@", lines);
  text = replace_all(std::move(text), "@PARAMETERS@", parameters(arguments, prepare ? kPrepared : ""));
  text = replace_all(std::move(text), "@LAST_POINTER@", prepare ? ", prepared memory last" : "");
  return replace_all(std::move(text), "@PROVENANCE@", comment(request.provenance));
}

std::string library_source(const LibraryRequest& request, const std::vector<std::string>& features) {
  const std::vector<Argument> arguments = arguments_of(*request.program);
  const std::optional<PrepareStep>& prepare = request.kernel->prepare;
  std::string checks;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool unread = prepare && std::ranges::find(prepare->unread, i) != prepare->unread.end();
    checks += check_of(arguments[i], i, i, unread);
  }
  if (prepare) {
    checks += check_of_prepared(arguments.size(), arguments.size());
    checks += fmt::format(
        "  if (*(const uint64_t*)((const char*)tunesmith_prepared + kPreparedBytes) != kPreparedBy)\n"
        "    return {}_NOT_PREPARED + 256 * {};\n",
        request.name, arguments.size());
  }
  std::string processor;
  for (const std::string& feature : features) {
    processor += fmt::format("  if (!__builtin_cpu_supports(\"{}\")) return 0;\n", feature);
  }
  const PrepareSource preparing = prepare_source(request);
  std::string text = replace_all(kSource, "@PREPARE@", preparing.raw) + preparing.function;
  text = replace_all(std::move(text), "@NAME@", request.name);
  text = replace_all(std::move(text), "@KERNEL@", request.kernel->symbol);
  text = replace_all(std::move(text), "@WORKSPACE@", std::to_string(request.kernel->workspace_bytes));
  text = replace_all(std::move(text), "@PROCESSOR@", processor);
  text = replace_all(std::move(text), "@COUNT@", std::to_string(arguments.size()));
  text = replace_all(std::move(text), "@CHECKS@", checks);
  return replace_all(std::move(text), "@PARAMETERS@", parameters(arguments, prepare ? kPrepared : ""));
}

std::string library_version_script(const LibraryRequest& request) {
  const std::string more =
      request.kernel->prepare
          ? fmt::format("{0}_prepare; {0}_prepare_raw; {0}_prepared_bytes; ", request.name)
          : "";
  return fmt::format("{{ global: {0}; {0}_raw; {0}_workspace_bytes; {0}_set_parallel_for; {1}local: *; }};\n",
                     request.name, more);
}

}  // namespace tunesmith::llvm_target
