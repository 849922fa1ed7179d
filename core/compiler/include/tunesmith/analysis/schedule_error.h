// A refused transformation.
#pragma once

#include <string>
#include <string_view>

#include "tunesmith/ir/program.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Thrown by every primitive that cannot prove it keeps the program's meaning; the schedule is as it was
/// before the call. what() names the primitive, the reason and prints the program with the place marked.
class ScheduleError : public Error {
 public:
  /// `reason` is a constant sentence without names or numbers, so that refusals can be counted; `detail` has
  /// those.
  ScheduleError(std::string_view primitive, std::string_view reason, std::string detail,
                const Program& program, const Stmt* place = nullptr);
  /// For errors without a program (a trace whose arguments do not fit).
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

/// The call is wrong whatever the program is: a handle to what an earlier transformation replaced or to
/// another schedule, an argument of the wrong type, a factor below one. No refusal but a mistake of whoever
/// wrote the call: when it leaves a module, the module is reported, and it is not counted as declined.
class ScheduleMisuse : public ScheduleError {
 public:
  using ScheduleError::ScheduleError;
  ~ScheduleMisuse() override;
};

}  // namespace tunesmith
#pragma GCC visibility pop
