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

#pragma GCC visibility push(default)
namespace tunesmith {

/// At most so many programs are timed in turn.
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

/// A line that says how, and one for each candidate.
std::string text_of(const Turns& turns);
/// Throws UserError as parse_job() does, and where candidates are missing or of several tasks.
Turns parse_turns(std::string_view text);

/// What a machine answers: the record of a job, times of Turns, or why it cannot measure.
struct Refusal {
  std::string why;
};
using Answer = std::variant<Record, std::vector<InterleavedTimes>, Refusal>;

std::string text_of(const Answer& answer);
/// Throws UserError for what is no answer.
Answer parse_answer(std::string_view text);

/// What a machine that takes jobs says of itself.
struct WorkerDescription {
  std::string name;      // of the machine and the process
  std::string identity;  // identity_of(): the jobs that it takes
  std::string target;    // TargetIdentity::str()
  std::string device;
  int threads = 0;
  Environment environment;
  std::map<std::string, double> quantities;  // of its target's description
  int64_t done = 0;                          // jobs since it began
  int64_t failed = 0;                        // of them
  int64_t disturbed = 0;                     // of them
  int64_t refused = 0;                       // messages that were no jobs of its own

  bool operator==(const WorkerDescription&) const = default;
};

/// Of machines whose times are compared: all that decides a time but which one of them it is. 16 hexadecimal
/// digits.
std::string identity_of(const TaskKey& task, const Environment& environment);
/// As that of all machines of an identity: without what only one of them is.
Environment common_environment(Environment environment);

std::string text_of(const WorkerDescription& worker);
/// Throws UserError for what is no description.
WorkerDescription parse_worker(std::string_view text);

}  // namespace tunesmith
#pragma GCC visibility pop
