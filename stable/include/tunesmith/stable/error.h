// The errors that the kernel reports and plugins throw; and the kernel's tables of functions, fetched when
// the plugin is loaded, which plugins do not use directly. An error crosses the boundary as an object of the
// kernel (c/tables.h); no exception leaves a plugin.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tunesmith/stable/c/plugin.h"

#ifdef TUNESMITH_PLUGIN
#error \
    "a plugin is of the stable tier or of the exact one: <tunesmith/stable/...> does not go with <tunesmith/plugin/plugin.h>"
#endif

namespace tunesmith {
inline namespace stable {
namespace detail {

/// An element of the kernel's array.
template <typename T>
const T& element(const tunesmith_span& span, uint64_t position) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(span.data) + position * span.stride);
}

struct Tables {
  const tunesmith_error_table* error = nullptr;
  const tunesmith_schedule_table* schedule = nullptr;
  const tunesmith_program_table* program = nullptr;
  const tunesmith_context_table* context = nullptr;
  const tunesmith_answer_table* answer = nullptr;
  const tunesmith_description_table* description = nullptr;
  const tunesmith_options_table* options = nullptr;
  const tunesmith_trace_table* trace = nullptr;
  const tunesmith_analysis_table* analysis = nullptr;
  const tunesmith_intrinsic_table* intrinsic = nullptr;
};
inline Tables tables;

/// Fetches a table; false if the kernel lacks it or has a shorter one. The kernel has checked that it is as
/// new as the plugin's note requires, so a missing table is the kernel's fault, which start() reports.
template <typename Table>
bool fetch(const tunesmith_host* host, std::string_view id, const Table*& table) {
  table = static_cast<const Table*>(host->table({id.data(), id.size()}));
  return table != nullptr && table->size >= sizeof(Table);
}

inline tunesmith_error* start(const tunesmith_host* host) noexcept {
  if (!fetch(host, "tunesmith.error/1", tables.error)) std::abort();  // no error can be reported
  const bool complete = fetch(host, "tunesmith.schedule/1", tables.schedule) &&
                        fetch(host, "tunesmith.program/1", tables.program) &&
                        fetch(host, "tunesmith.context/1", tables.context) &&
                        fetch(host, "tunesmith.answer/1", tables.answer) &&
                        fetch(host, "tunesmith.description/1", tables.description) &&
                        fetch(host, "tunesmith.options/1", tables.options) &&
                        fetch(host, "tunesmith.trace/1", tables.trace) &&
                        fetch(host, "tunesmith.analysis/1", tables.analysis) &&
                        fetch(host, "tunesmith.intrinsic/1", tables.intrinsic);
  if (complete) return nullptr;
  constexpr std::string_view kWhy = "the kernel's tables are shorter than its version says";
  tunesmith_error_info told = {};
  told.size = sizeof(told);
  told.kind = TUNESMITH_ERROR_KIND_UNSUPPORTED;
  told.message = {kWhy.data(), kWhy.size()};
  return tables.error->make(&told);
}

inline std::string_view view(tunesmith_text text) { return {text.data, static_cast<size_t>(text.size)}; }
inline tunesmith_text text(std::string_view from) { return {from.data(), from.size()}; }

/// Owns an error of the kernel until it is returned.
struct ErrorHandle {
  explicit ErrorHandle(tunesmith_error* taken) : error(taken) {}
  ~ErrorHandle() { tables.error->release(error); }
  ErrorHandle(const ErrorHandle&) = delete;
  ErrorHandle& operator=(const ErrorHandle&) = delete;

  tunesmith_error_info info() const {
    tunesmith_error_info known = {};
    known.size = sizeof(known);
    tables.error->info(error, &known);
    return known;
  }

  tunesmith_error* error;
};

}  // namespace detail

/// The base class of all errors.
class Error : public std::exception {
 public:
  explicit Error(std::string message)
      : Error(TUNESMITH_ERROR_KIND_INTERNAL, {std::move(message), {}, {}, {}}) {}

  /// A complete message.
  const char* what() const noexcept override {
    try {
      if (handle_ && texts_.message.empty()) texts_.message = detail::view(handle_->info().message);
    } catch (...) {  // there is no memory for the text
      return "an error";
    }
    return texts_.message.c_str();
  }

  /// Converts the error to an object of the kernel, which the caller owns. Call it at most once.
  tunesmith_error* release() const {
    if (handle_) return what(), std::exchange(handle_->error, nullptr);
    const tunesmith_error_info told = {sizeof(told),
                                       kind_,
                                       0,
                                       detail::text(texts_.message),
                                       detail::text(texts_.primitive),
                                       detail::text(texts_.reason),
                                       detail::text(texts_.detail)};
    return detail::tables.error->make(&told);
  }

 protected:
  struct Texts {
    std::string message;
    std::string primitive;
    std::string reason;
    std::string detail;
  };
  Error(uint32_t kind, Texts texts) : kind_(kind), texts_(std::move(texts)) {}
  explicit Error(std::shared_ptr<detail::ErrorHandle> handle) : handle_(std::move(handle)) {}

  std::string part(std::string Texts::* own, tunesmith_text tunesmith_error_info::* of_kernel) const {
    return handle_ ? std::string(detail::view(handle_->info().*of_kernel)) : texts_.*own;
  }

 private:
  uint32_t kind_ = 0;
  mutable Texts texts_;
  std::shared_ptr<detail::ErrorHandle> handle_;  // null for an error that the plugin itself throws
};

/// A transformation is not proved legal here; the schedule is unchanged.
class ScheduleError : public Error {
 public:
  /// `reason` is a constant sentence without names or numbers; `detail` has those.
  ScheduleError(const std::string& primitive, const std::string& reason, const std::string& detail)
      : ScheduleError(TUNESMITH_ERROR_KIND_REFUSED, primitive, reason, detail) {}
  explicit ScheduleError(std::shared_ptr<detail::ErrorHandle> handle) : Error(std::move(handle)) {}

  std::string primitive() const { return part(&Texts::primitive, &tunesmith_error_info::primitive); }
  std::string reason() const { return part(&Texts::reason, &tunesmith_error_info::reason); }
  std::string detail() const { return part(&Texts::detail, &tunesmith_error_info::detail); }

 protected:
  ScheduleError(uint32_t kind, const std::string& primitive, const std::string& reason,
                const std::string& more)
      : Error(kind,
              {primitive + ": " + reason + (more.empty() ? "" : ": " + more), primitive, reason, more}) {}
};

/// A call is wrong for every program; it ends the run with the plugin's name.
class ScheduleMisuse : public ScheduleError {
 public:
  ScheduleMisuse(const std::string& primitive, const std::string& reason, const std::string& detail)
      : ScheduleError(TUNESMITH_ERROR_KIND_MISUSE, primitive, reason, detail) {}
  explicit ScheduleMisuse(std::shared_ptr<detail::ErrorHandle> handle) : ScheduleError(std::move(handle)) {}
};

/// The user's input is invalid; Options::fail throws it with a location.
class UserError : public Error {
 public:
  explicit UserError(std::string message)
      : Error(TUNESMITH_ERROR_KIND_USER, {std::move(message), {}, {}, {}}) {}
  explicit UserError(std::shared_ptr<detail::ErrorHandle> handle) : Error(std::move(handle)) {}
};

/// The machine or the installation lacks something.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(std::string message)
      : Error(TUNESMITH_ERROR_KIND_ENVIRONMENT, {std::move(message), {}, {}, {}}) {}
  explicit EnvironmentError(std::shared_ptr<detail::ErrorHandle> handle) : Error(std::move(handle)) {}
};

/// The kernel is too old for the plugin's request, such as an instruction.
class UnsupportedError : public Error {
 public:
  explicit UnsupportedError(std::string message)
      : Error(TUNESMITH_ERROR_KIND_UNSUPPORTED, {std::move(message), {}, {}, {}}) {}
  explicit UnsupportedError(std::shared_ptr<detail::ErrorHandle> handle) : Error(std::move(handle)) {}
};

/// A bug in the kernel or in the plugin.
class InternalError : public Error {
 public:
  explicit InternalError(std::string message) : Error(std::move(message)) {}
  explicit InternalError(std::shared_ptr<detail::ErrorHandle> handle) : Error(std::move(handle)) {}
};

/// Takes ownership of the kernel's error and throws it.
[[noreturn]] inline void throw_error(tunesmith_error* error) {
  auto handle = std::make_shared<detail::ErrorHandle>(error);
  switch (handle->info().kind) {
    case TUNESMITH_ERROR_KIND_REFUSED:
      throw ScheduleError(std::move(handle));
    case TUNESMITH_ERROR_KIND_MISUSE:
      throw ScheduleMisuse(std::move(handle));
    case TUNESMITH_ERROR_KIND_USER:
      throw UserError(std::move(handle));
    case TUNESMITH_ERROR_KIND_ENVIRONMENT:
      throw EnvironmentError(std::move(handle));
    case TUNESMITH_ERROR_KIND_UNSUPPORTED:
      throw UnsupportedError(std::move(handle));
    default:
      throw InternalError(std::move(handle));
  }
}

namespace detail {

inline void check(tunesmith_error* error) {
  if (error != nullptr) throw_error(error);
}

/// Runs the body of a function that the kernel calls: returns null, or the exception as an error.
template <typename Body>
tunesmith_error* guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return nullptr;
  } catch (const Error& error) {
    return error.release();
  } catch (const std::exception& other) {
    return Error(std::string(other.what())).release();
  } catch (...) {  // no other exception may leave the plugin
    return Error(std::string("something that is no exception")).release();
  }
}

}  // namespace detail

}  // namespace stable
}  // namespace tunesmith
