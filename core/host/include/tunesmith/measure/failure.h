// Causes of a candidate's failure. A failure is a result, not an exception: it is counted by its cause and
// recorded, and the run continues.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Records and reports contain the text names (failure_cause_name), so they are never changed or reused.
enum class FailureCause : uint8_t {
  IllegalSchedule,     // illegal_schedule
  VerifyLimits,        // verify_limits
  PluginError,         // plugin_error
  CompileError,        // compile_error
  LoadError,           // load_error
  WrongResult,         // wrong_result
  OutOfBounds,         // out_of_bounds
  ProcessState,        // process_state
  ImplausibleTime,     // implausible_time
  Crash,               // crash
  IllegalInstruction,  // illegal_instruction
  TimeOut,             // time_out
  OutOfMemory,         // out_of_memory
  WorkerLost,          // worker_lost
  Duplicate            // duplicate
};

/// Every cause, in the order above, which is the order in which reports list them.
std::span<const FailureCause> all_failure_causes();

/// The stable name, as "wrong_result".
std::string_view failure_cause_name(FailureCause cause);

/// One line for a person: what happened to the candidate.
std::string_view failure_cause_meaning(FailureCause cause);

/// May the same program succeed when it is measured again, because the machine may have caused the failure?
/// True for load_error, out_of_memory and worker_lost, and for time_out if the machine was disturbed
/// meanwhile. The program causes all others, which would recur.
bool is_transient(FailureCause cause, bool disturbed);

/// Does one such failure outweigh every success of the program, because it shows that the program is wrong?
/// True for wrong_result, out_of_bounds, process_state, implausible_time, crash and illegal_instruction.
bool disqualifies(FailureCause cause);

/// Nothing if `name` is not the name of a cause.
std::optional<FailureCause> parse_failure_cause(std::string_view name);

/// A candidate's failure. `message`: the observation ("signal 11", "C[3, 4] is 1.5, reference 2.5"), one
/// line, without addresses if possible, so that equal failures have equal messages; may be empty. `detail`:
/// further names (block, buffer, access), which are not recorded.
struct CandidateFailure {
  FailureCause cause;
  std::string message;
  std::string detail = {};  // NOLINT(readability-redundant-member-init): may be left out

  bool operator==(const CandidateFailure&) const = default;
};

}  // namespace tunesmith
#pragma GCC visibility pop
