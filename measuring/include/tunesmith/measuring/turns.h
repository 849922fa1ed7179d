// Messages between machines besides jobs: timing requests, answers, and descriptions of machines, as lines of
// the schema that a queue carries (docs/records.md).
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
  bool peak = false;  // time the machine's peak_kernel(), too, after the candidates

  bool operator==(const Turns&) const = default;
};

/// One line with the options, then one for each candidate.
std::string text_of(const Turns& turns);
/// Throws UserError as parse_job() does, and if there are no candidates or they are of several tasks.
Turns parse_turns(std::string_view text);

/// Why a machine cannot measure a job or Turns.
struct Refusal {
  std::string why;
};
/// A machine's answer: the record of a job, the times of Turns, or a refusal.
using Answer = std::variant<Record, std::vector<InterleavedTimes>, Refusal>;

std::string text_of(const Answer& answer);
/// Throws UserError if `text` is not an answer.
Answer parse_answer(std::string_view text);

/// LowerOptions of a machine's target, without additions of extensions.
struct MachineLimits {
  int64_t vector_bits = 0;
  int64_t vector_registers = 0;
  int64_t max_stack_bytes = 0;
  int64_t max_expanded_stores = 0;
  bool prepare = false;  // Target::can_prepare()
  bool parameters = false;

  bool operator==(const MachineLimits&) const = default;
};

/// The description of a machine that measures jobs.
struct WorkerDescription {
  std::string name;      // of the machine and the process
  std::string identity;  // identity_of(): it accepts jobs of this identity
  std::string target;    // TargetIdentity::str()
  std::string device;
  std::string rule;     // rule_of_target() of its space
  std::string machine;  // DeviceModel::description
  int threads = 0;
  Environment environment;
  std::map<std::string, double> quantities;  // Space::device()
  MachineLimits limits;
  double reference = 0.0;        // latest time of its reference program in seconds; 0: not timed yet
  double usual_reference = 0.0;  // usual time of the reference program in seconds; 0: unknown
  int64_t done = 0;              // jobs since its start
  int64_t failed = 0;            // of these jobs
  int64_t disturbed = 0;         // of these jobs
  int64_t refused = 0;           // messages that were not jobs of its identity

  bool operator==(const WorkerDescription&) const = default;
};

/// The target in the space's text: kind and options. Machines with one rule, such as "native", may have
/// different targets.
std::string rule_of_target(const Space& space);
/// Describes this machine, on which `space` was composed, with the environment of the space's records,
/// without name and counts. `task`: the common fields of its tasks.
WorkerDescription describe_machine(const Space& space, const TaskKey& task);

/// A hash of everything that determines times except the individual machine, as 16 hexadecimal digits: times
/// of machines with equal identities are comparable.
std::string identity_of(const TaskKey& task, const Environment& environment);
/// The environment without the fields that identify the individual machine: equal for machines of one
/// identity.
Environment common_environment(Environment environment);

std::string text_of(const WorkerDescription& worker);
/// Throws UserError if `text` is not a description.
WorkerDescription parse_worker(std::string_view text);

}  // namespace tunesmith
#pragma GCC visibility pop
