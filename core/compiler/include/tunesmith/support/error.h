// The two kinds of errors that a user sees, and their location in a text.
//
//   UserError         the input is wrong (exit code 2): says where, what was expected and the nearest name
//   EnvironmentError  the machine or installation is at fault (exit code 4)
//
// A candidate's failure is never an exception that reaches a user: see measure/failure.h.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A place in a text. `line` and `column` count from 1; 0 means unknown and is not printed.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column" without the unknown parts.
  std::string str() const;
};

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  ~Error() override;
};

/// The user's input cannot be accepted. `what()` is "location: message; remedy".
class UserError : public Error {
 public:
  explicit UserError(const std::string& message, std::string remedy = {});
  UserError(SourceLocation location, const std::string& message, std::string remedy = {});
  ~UserError() override;

  const SourceLocation& location() const { return location_; }
  const std::string& remedy() const { return remedy_; }

 private:
  SourceLocation location_;
  std::string remedy_;
};

/// The machine lacks something (a full file system, an unavailable target, a missing tool).
class EnvironmentError : public Error {
 public:
  using Error::Error;
  ~EnvironmentError() override;
};

/// A bug in Tunesmith: a broken invariant. Never caught to continue.
class InternalError : public Error {
 public:
  using Error::Error;
  ~InternalError() override;
};

/// Throws InternalError with the source location if `condition` is false, also in release builds.
void check_invariant(bool condition, std::string_view what, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE());

/// The known name nearest to `name` by edit distance, or "" if none is close enough.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "did you mean 'x'?" with the nearest known name, or "known: a, b, c" if none is close.
std::string suggest(std::string_view name, const std::vector<std::string>& known);

}  // namespace tunesmith
#pragma GCC visibility pop
