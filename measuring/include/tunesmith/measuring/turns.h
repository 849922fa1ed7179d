// What is asked of another machine besides a job, and what it answers, as text that a queue carries
// (docs/records.md): lines of the schema.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/measuring/job.h"
#include "tunesmith/records/environment.h"
#include "tunesmith/records/record.h"
#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The maximum number of programs that are timed in turn.
inline constexpr size_t kMaxInTurn = 4096;

/// Programs of one workload to be timed in turn on one machine (Runner::interleave).
struct Turns {
  std::vector<RecordedCandidate> candidates;
  JobOptions options;
  int rounds = 1;
  double budget_seconds = 0.0;
  int min_rounds = 0;
  bool peak = false;  // behind them comes the machine's peak_kernel()

  bool operator==(const Turns&) const = default;
};

/// One line with the options, then one for each candidate.
std::string text_of(const Turns& turns);
/// Throws UserError as parse_job() does, and where candidates are missing or of several tasks.
Turns parse_turns(std::string_view text);

/// What a machine answers: the record of a job, times of Turns, or why it cannot measure.
struct Refusal {
  std::string why;
};
using Answer = std::variant<Record, std::vector<InterleavedTimes>, Refusal>;

std::string text_of(const Answer& answer);
/// Throws UserError if `text` is not an answer.
Answer parse_answer(std::string_view text);

/// LowerOptions of a machine's target, without what its plugins add.
struct MachineLimits {
  int64_t vector_bits = 0;
  int64_t vector_registers = 0;
  int64_t max_stack_bytes = 0;
  int64_t max_expanded_stores = 0;
  bool prepare = false;  // Target::can_prepare()
  bool parameters = false;

  bool operator==(const MachineLimits&) const = default;
};

/// What a machine that takes jobs says of itself.
struct WorkerDescription {
  std::string name;      // of the machine and the process
  std::string identity;  // identity_of(): the jobs that it takes
  std::string target;    // TargetIdentity::str()
  std::string device;
  std::string rule;     // rule_of_target() of its space
  std::string machine;  // DeviceModel::description
  int threads = 0;
  Environment environment;
  std::map<std::string, double> quantities;  // Space::device()
  MachineLimits limits;
  double reference = 0.0;        // seconds of its reference program, at last; 0: it has not been timed
  double usual_reference = 0.0;  // its usual seconds; 0: not known
  int64_t done = 0;              // jobs since it began
  int64_t failed = 0;            // of them
  int64_t disturbed = 0;         // of them
  int64_t refused = 0;           // messages that were no jobs of its own

  bool operator==(const WorkerDescription&) const = default;
};

/// How a space writes its target: kind and options. Machines of one rule may have several targets: "native".
std::string rule_of_target(const Space& space);
/// This machine, where `space` was composed, with the environment of that space's records. `task`: what its
/// tasks have in common. Without counts and name.
WorkerDescription describe_machine(const Space& space, const TaskKey& task);

/// A hash of everything that determines times but the individual machine, as 16 hexadecimal digits: times of
/// machines with equal identities are compared.
std::string identity_of(const TaskKey& task, const Environment& environment);
/// The environment that all machines of one identity have: without what identifies the individual machine.
Environment common_environment(Environment environment);

std::string text_of(const WorkerDescription& worker);
/// Throws UserError if `text` is not a description.
WorkerDescription parse_worker(std::string_view text);

}  // namespace tunesmith
#pragma GCC visibility pop
