// The opaque handles of the stable interface (stable/api.yaml), and the
// conversion of exceptions to errors. No exception leaves a table's function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access_list.h"
#include "plugin/stable_interface.h"
#include "tunesmith/intrinsics/matrix_product.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/space/module.h"
#include "tunesmith/trace/schedule.h"

/// Owned by the receiver.
struct tunesmith_error {
  std::exception_ptr exception;  // rethrown when the error returns to the kernel
  uint32_t kind = TUNESMITH_ERROR_KIND_INTERNAL;
  // The exception if it is one of these. Texts are not copied: most refusals are only counted.
  const std::exception* standard = nullptr;
  const tunesmith::ScheduleError* refusal = nullptr;
};

namespace tunesmith::api {
struct Snapshot;
}

/// A view of a program owned by another object, which caches what was read since the last change.
struct tunesmith_program {
  const tunesmith::Program* program = nullptr;
  mutable tunesmith::api::Snapshot* snapshot = nullptr;  // holds one reference
  // Results that were handed out.
  mutable std::deque<tunesmith_buffer> buffers = {};
  mutable std::deque<std::vector<tunesmith_block_facts>> blocks = {};
  mutable std::deque<std::vector<tunesmith_loop_facts>> loops = {};
  mutable std::list<tunesmith::api::AccessList> accesses = {};
  mutable std::list<tunesmith::MatrixProduct> products = {};

  explicit tunesmith_program(const tunesmith::Program& of) : program(&of) {}
  ~tunesmith_program() { forget(); }
  tunesmith_program(const tunesmith_program&) = delete;
  tunesmith_program& operator=(const tunesmith_program&) = delete;
  /// The program is about to change.
  void forget();
};

struct tunesmith_schedule {
  tunesmith::Schedule schedule;
  tunesmith_program program{schedule.program()};
  mutable std::list<tunesmith::api::IntrinsicFacts> intrinsics = {};  // handed out

  explicit tunesmith_schedule(tunesmith::Schedule given) : schedule(std::move(given)) {}
};

struct tunesmith_context {
  tunesmith::ModuleContext* context = nullptr;
  tunesmith_program original;
  // tunesmith_execution, made on demand, and the data that it points to.
  mutable std::unique_ptr<tunesmith_execution> execution = nullptr;
  mutable std::vector<tunesmith_level> levels = {};
  mutable std::vector<tunesmith_scope> scopes = {};
  mutable std::deque<std::vector<tunesmith_text>> axes = {};
  // Intrinsics that were handed out.
  mutable std::list<tunesmith::api::IntrinsicFacts> intrinsics = {};
  mutable std::list<std::vector<tunesmith_intrinsic>> intrinsic_lists = {};

  explicit tunesmith_context(tunesmith::ModuleContext& of) : context(&of), original(of.original()) {}
};

struct tunesmith_answer {
  std::vector<std::unique_ptr<tunesmith_schedule>> schedules;
  uint32_t status = 0;
  std::string reason;
};

struct tunesmith_description {
  tunesmith::ModuleDescription description;
};

struct tunesmith_options {
  const tunesmith::Options* options = nullptr;
  std::vector<tunesmith::OptionSpec> specs;
  mutable std::deque<std::vector<tunesmith_value>> lists = {};  // of values that were handed out
};

struct tunesmith_option_list {
  std::vector<tunesmith::OptionSpec> specs;
};

namespace tunesmith::api {

/// Destroys the error and throws its exception: the original one if it came from the kernel.
[[noreturn]] void rethrow(tunesmith_error* error);

/// Throws the exception of `error`, if not null.
inline void check(tunesmith_error* error) {
  if (error != nullptr) rethrow(error);
}

/// Thrown when a newer caller requests something that this kernel does not know.
class Unsupported : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
  ~Unsupported() override;
};

/// Calls `body(context)` and returns null or its exception as an error.
tunesmith_error* run_guarded(void (*body)(void* context), void* context) noexcept;

/// Runs the body of a table's function; returns null or its exception as an error.
template <typename Body>
tunesmith_error* guarded(Body body) noexcept {
  return run_guarded([](void* context) { (*static_cast<Body*>(context))(); }, &body);
}

/// A mistake of the caller, thrown as ScheduleMisuse, so that the kernel ends the run with the plugin's name.
[[noreturn]] void misuse(std::string_view call, std::string_view reason, std::string detail = "");
/// A pointer that must not be null.
template <typename T>
T& given(T* pointer, std::string_view call) {
  if (pointer == nullptr) misuse(call, "an argument is null");
  return *pointer;
}

inline std::string_view view(tunesmith_text text) { return {text.data, static_cast<size_t>(text.size)}; }
inline tunesmith_text text(std::string_view from) { return {from.data(), from.size()}; }
template <typename T>
tunesmith_span span_of(const std::vector<T>& items) {
  return {items.data(), items.size(), sizeof(T)};
}

tunesmith_value value_of(const AnnotationValue& value);
tunesmith_value value_of(int64_t number);
tunesmith_value value_of(double number);
tunesmith_value value_of(std::string_view string);

/// Writes as much of `from` as fits the caller's struct, which begins with its size.
template <typename T>
void fill(T* to, const T& from) {
  const size_t size = std::min(static_cast<size_t>(to->size), sizeof(T));
  auto* bytes = reinterpret_cast<char*>(to);
  const auto* source = reinterpret_cast<const char*>(&from);
  std::copy(source + sizeof(to->size), source + std::max(size, sizeof(to->size)), bytes + sizeof(to->size));
}

// The tables, one a file.
#define TABLE(name, id) extern const tunesmith_##name k_##name;
#include "api/table_list.inc"
#undef TABLE

}  // namespace tunesmith::api
