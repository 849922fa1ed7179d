#include "errors.h"

#include <atomic>
#include <exception>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <pthread.h>

#include <tunesmith/analysis/schedule_error.h>
#include <tunesmith/plugin/error.h>
#include <tunesmith/verification/interpreter.h>

#include "traces.h"

namespace tunesmith::python {
namespace {

std::atomic<bool> g_forked{false};

/// The line with a caret below the column; "" if the text has no such line.
std::string excerpt_of(std::string_view text, const SourceLocation& place) {
  if (place.line < 1) return "";
  size_t begin = 0;
  for (int line = 1; line < place.line; ++line) {
    const size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return "";
    begin = end + 1;
  }
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (place.column < 1) return fmt::format("  {}", line);
  return fmt::format("  {}\n  {:>{}}", line, '^', place.column);
}

std::string excerpt_of_file(const SourceLocation& place) {
  if (place.file.empty() || place.line < 1) return "";
  std::ifstream file(place.file);
  return excerpt_of(std::string(std::istreambuf_iterator<char>(file), {}), place);
}

template <typename... Arguments>
void raise(const char* name, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("tunesmith.errors").attr(name);
  const nb::object error = type(arguments...);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void raise_user_error(const char* name, const UserError& error, const std::string& excerpt) {
  const SourceLocation& place = error.location();
  raise(name, error.what(), place.file.c_str(), place.line, place.column, error.remedy().c_str(),
        excerpt.c_str());
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ShownError& error) {
    raise_user_error("UserError", error, error.excerpt());
  } catch (const cli::NoRecord& error) {
    raise_user_error("NoRecord", error, "");
  } catch (const UserError& error) {
    raise_user_error("UserError", error, excerpt_of_file(error.location()));
  } catch (const PluginError& error) {
    raise("PluginError", error.what());
  } catch (const EnvironmentError& error) {
    raise("EnvironmentFault", error.what());
  } catch (const ScheduleMisuse& error) {
    raise("ScheduleMisuse", error.what(), error.primitive().c_str(), error.reason().c_str());
  } catch (const ScheduleError& error) {
    raise("ScheduleError", error.what(), error.primitive().c_str(), error.reason().c_str());
  } catch (const InterpreterError& error) {
    raise("InterpreterError", error.what());
  } catch (const InternalError& error) {
    raise("InternalError", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  }
}

}  // namespace

ShownError::ShownError(const UserError& error, std::string_view text)
    : UserError(error), excerpt_(excerpt_of(text, error.location())) {}

void require_own_process() {
  if (g_forked.load(std::memory_order_relaxed)) {
    throw EnvironmentError(
        "this process was forked after tunesmith was imported, and threads do not follow into it; start it "
        "with "
        "multiprocessing.get_context('spawn'), or import tunesmith in the child alone");
  }
}

void set_error(const std::exception_ptr& thrown) noexcept {
  try {
    translate(thrown, nullptr);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_& /*module*/) {
  pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace tunesmith::python
