// Why a candidate has no time. A failed candidate is an answer, never an exception: it is counted under its
// cause, recorded, and the run continues.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// The text names (failure_cause_name) stand in records and reports: they are never changed or reused.
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

/// May the same program do better another time, because the machine and not the program may be to blame? True
/// for load_error, out_of_memory and worker_lost, and for time_out when the machine was disturbed meanwhile.
/// Everything else is the program's own fault, and the same again tomorrow.
bool is_transient(FailureCause cause, bool disturbed);

/// Does one such failure outweigh any success of the program, because what it computes, touches or leaves
/// behind is wrong? True for wrong_result, out_of_bounds, process_state, implausible_time, crash and
/// illegal_instruction.
bool disqualifies(FailureCause cause);

/// Nothing when `name` is not a cause's name.
std::optional<FailureCause> parse_failure_cause(std::string_view name);

/// A candidate's failure: its cause, and what was seen ("signal 11 at 0x7f..", "C[3, 4] is 1.5,
/// reference 2.5"). `message` is one line without addresses where it can be, so that equal failures read
/// equal; may be empty. `detail` is what this one names beyond that (block, buffer, access); not recorded.
struct CandidateFailure {
  FailureCause cause;
  std::string message;
  std::string detail = {};  // NOLINT(readability-redundant-member-init): may be left out

  bool operator==(const CandidateFailure&) const = default;
};

}  // namespace tunesmith
#pragma GCC visibility pop
