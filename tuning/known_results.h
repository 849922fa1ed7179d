// Recorded results that a run need not measure again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "resume.h"
#include "task.h"
#include "trial_log.h"

namespace tunesmith {

/// The history of the task, and results of this run before an interruption that are
/// not in it yet. Belongs to the run and its thread; context and log outlive it.
class KnownResults {
 public:
  KnownResults(const Task& context, TrialLog& log) : context_(context), log_(log) {}

  /// From resume_run().
  void begin(Resumed taken) { taken_ = std::move(taken); }

  /// The recorded result of a program, counted as a trial: of an interrupted round, or
  /// of anything that a searcher wrongly proposes again. Nothing if it must be measured.
  std::optional<Measured> take(uint64_t lowered_hash);
  /// The result in the history; nothing when it is not there.
  std::optional<Measured> in_history(uint64_t lowered_hash) const;

  /// Were there transient failures before the interruption? They are measured again, and counted.
  bool has_retried() const { return !taken_.retried.empty(); }
  std::vector<CandidatePtr> take_retried() { return std::exchange(taken_.retried, {}); }

  /// Unclaimed results of the round that was interrupted.
  size_t left_of_cut_round() const { return taken_.cut_round.size(); }
  /// Counts these: the searcher proposed other programs than before, but the results are known.
  std::vector<Measured> take_cut_round();

  /// Is the program's time one that only an earlier check accepted?
  bool is_unchecked(uint64_t lowered_hash) const { return taken_.unchecked.contains(lowered_hash); }

 private:
  const Task& context_;
  TrialLog& log_;
  Resumed taken_;
};

}  // namespace tunesmith
