// The kernel's errors as Python exceptions of one family, tunesmith.errors.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include <tunesmith/support/error.h>

namespace tunesmith::python {

namespace nb = nanobind;

/// A user's error with the line that it is in, and a caret below its column.
class ShownError : public UserError {
 public:
  ShownError(const UserError& error, std::string_view text);
  const std::string& excerpt() const { return excerpt_; }

 private:
  std::string excerpt_;
};

/// Calls `function()` and adds the excerpt of `text` to errors located in `file`.
template <typename Function>
auto shown_in(std::string_view text, std::string_view file, const Function& function) {
  try {
    return function();
  } catch (const UserError& error) {
    if (error.location().file != file) throw;
    throw ShownError(error, text);
  }
}

/// Throws EnvironmentError in a process that was forked from the one that loaded this library: it lacks that
/// process's threads, and locks may stay held forever.
void require_own_process();

/// Sets an exception as the interpreter's error, for
/// functions that Python calls without nanobind.
void set_error(const std::exception_ptr& thrown) noexcept;

void bind_errors(nb::module_& module);

}  // namespace tunesmith::python
