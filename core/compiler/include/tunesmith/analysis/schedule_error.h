// The error of a transformation that is refused.
#pragma once

#include <string>
#include <string_view>

#include "tunesmith/ir/program.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Thrown by a primitive that cannot prove that it preserves the program's meaning; the schedule is
/// unchanged. what() names the primitive and the reason, and prints the program with the place marked.
class ScheduleError : public Error {
 public:
  /// `reason` is a constant sentence without names or numbers, so that
  /// refusals can be counted; `detail` contains the names and numbers.
  ScheduleError(std::string_view primitive, std::string_view reason, std::string detail,
                const Program& program, const Stmt* place = nullptr);
  /// For errors that concern no program, such as a trace with unsuitable arguments.
  ScheduleError(std::string_view primitive, std::string_view reason, std::string detail);
  ~ScheduleError() override;

  const std::string& primitive() const { return primitive_; }
  const std::string& reason() const { return reason_; }
  const std::string& detail() const { return detail_; }

 private:
  std::string primitive_;
  std::string reason_;
  std::string detail_;
};

/// The call is wrong for every program: a stale handle or one of another schedule, an
/// argument of the wrong type, a factor below one. It is the caller's mistake: when it leaves
/// a module, the module is reported as faulty instead of being counted as not applicable.
class ScheduleMisuse : public ScheduleError {
 public:
  using ScheduleError::ScheduleError;
  ~ScheduleMisuse() override;
};

}  // namespace tunesmith
#pragma GCC visibility pop
