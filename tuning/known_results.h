// What a run need not measure, since it is on record.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "resume.h"
#include "task.h"
#include "trial_log.h"

namespace tunesmith {

/// The history of the task, and what an earlier process left of this run that is not in it yet. Belongs to
/// the run and its thread; the context and the log outlive it.
class KnownResults {
 public:
  KnownResults(const Task& context, TrialLog& log) : context_(context), log_(log) {}

  /// What resume_run() found.
  void begin(Resumed taken) { taken_ = std::move(taken); }

  /// What came of the program, counted as a trial. Of a round that was cut, or, if a searcher proposes what
  /// it must not, of anything measured before. Nothing when it is to be measured.
  std::optional<Measured> take(uint64_t lowered_hash);
  /// The result in the history; nothing when it is not there.
  std::optional<Measured> in_history(uint64_t lowered_hash) const;

  /// Failed in an earlier process for a reason that may have passed: to be measured again, and counted.
  bool has_retried() const { return !taken_.retried.empty(); }
  std::vector<CandidatePtr> take_retried() { return std::exchange(taken_.retried, {}); }

  /// Results of the round that an earlier process did not end and that nobody has proposed again so far.
  size_t left_of_cut_round() const { return taken_.cut_round.size(); }
  /// Counts these: the searcher took another way than before, and what it found then is known all the same.
  std::vector<Measured> take_cut_round();

  /// Is the program's time one that only an earlier check accepted?
  bool is_unchecked(uint64_t lowered_hash) const { return taken_.unchecked.contains(lowered_hash); }

 private:
  const Task& context_;
  TrialLog& log_;
  Resumed taken_;
};

}  // namespace tunesmith
