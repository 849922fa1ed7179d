#include "tunesmith/measure/failure.h"

#include <algorithm>
#include <array>

#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
struct CauseEntry {
  FailureCause cause;
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<CauseEntry, 15> kCauses{{
    {FailureCause::IllegalSchedule, "illegal_schedule",
     "its trace applies a transformation that is illegal here"},
    {FailureCause::VerifyLimits, "verify_limits", "the program exceeds a limit of the target"},
    {FailureCause::PluginError, "plugin_error", "a plugin failed on the candidate"},
    {FailureCause::CompileError, "compile_error", "the target could not compile the program"},
    {FailureCause::LoadError, "load_error", "the compiled object could not be loaded"},
    {FailureCause::WrongResult, "wrong_result",
     "its outputs differ from the reference's by more than the tolerance"},
    {FailureCause::OutOfBounds, "out_of_bounds", "it accessed a guard page next to a buffer"},
    {FailureCause::ProcessState, "process_state",
     "it changed process state: threads, descriptors, signals or floating-point mode"},
    {FailureCause::ImplausibleTime, "implausible_time",
     "its calls were fast only while the inputs were unchanged"},
    {FailureCause::Crash, "crash", "it crashed its worker with a signal"},
    {FailureCause::IllegalInstruction, "illegal_instruction",
     "it contains an instruction this processor does not support"},
    {FailureCause::TimeOut, "time_out", "compiling or running it took longer than allowed"},
    {FailureCause::OutOfMemory, "out_of_memory", "it asked for more memory than allowed"},
    {FailureCause::WorkerLost, "worker_lost",
     "its worker ended for another reason, or gave an invalid answer"},
    {FailureCause::Duplicate, "duplicate", "its program was already measured with another trace"},
}};

const CauseEntry& entry(FailureCause cause) {
  const size_t index = static_cast<size_t>(cause);
  check_invariant(index < kCauses.size() && kCauses[index].cause == cause, "a failure cause is in the table");
  return kCauses[index];
}
}  // namespace

std::span<const FailureCause> all_failure_causes() {
  static const std::array<FailureCause, kCauses.size()> causes = [] {
    std::array<FailureCause, kCauses.size()> all{};
    std::ranges::transform(kCauses, all.begin(), &CauseEntry::cause);
    return all;
  }();
  return causes;
}

std::string_view failure_cause_name(FailureCause cause) { return entry(cause).name; }

std::string_view failure_cause_meaning(FailureCause cause) { return entry(cause).meaning; }

bool disqualifies(FailureCause cause) {
  return cause == FailureCause::WrongResult || cause == FailureCause::OutOfBounds ||
         cause == FailureCause::ProcessState || cause == FailureCause::ImplausibleTime ||
         cause == FailureCause::Crash || cause == FailureCause::IllegalInstruction;
}

bool is_transient(FailureCause cause, bool disturbed) {
  switch (cause) {
    case FailureCause::LoadError:
    case FailureCause::OutOfMemory:
    case FailureCause::WorkerLost:
      return true;
    case FailureCause::TimeOut:
      return disturbed;
    default:
      return false;
  }
}

std::optional<FailureCause> parse_failure_cause(std::string_view name) {
  const auto found = std::ranges::find(kCauses, name, &CauseEntry::name);
  if (found == kCauses.end()) return std::nullopt;
  return found->cause;
}

}  // namespace tunesmith
