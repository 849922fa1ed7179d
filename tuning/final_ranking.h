// The end of a run: verifies its fastest programs again if necessary, times them in turn and orders them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "evaluator.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Belongs to the run and its thread; its arguments outlive it.
class FinalRanking {
 public:
  FinalRanking(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
               Evaluator& evaluator, const RecordedNames& names, const TuneOptions& options, uint64_t machine)
      : workload_(workload),
        space_(space),
        store_(store),
        runner_(runner),
        evaluator_(evaluator),
        names_(names),
        options_(options),
        machine_(machine) {}

  /// Ranks the run's leaders together with the best on record, which stays the best until
  /// a program timed in turn with it is faster; without programs that only an older check
  /// accepted and this one refuses: `unchecked`, by lowered hash. Takes `seconds` at most. Records the times
  /// and the machine's peak.
  void rank(std::span<const Measured> leaders, std::set<uint64_t> unchecked, const RecordedRun& run,
            const TaskKey& task, double seconds, TuneResult& result);
  /// The program's interval from the ranking; nothing if it was not in all rounds.
  std::optional<QuantileInterval> time_of(uint64_t lowered_hash) const;

 private:
  /// A program that must be in all rounds, and the record by which it is known.
  struct Kept {
    Measured measured;
    Record record;
  };
  std::vector<Kept> best_on_record(const TaskKey& task, TuneResult& result) const;
  /// The `contestants` that pass the current check; `refused`: why the others do not.
  std::vector<Measured> checked(std::vector<Measured> contestants, const std::set<uint64_t>& unchecked,
                                std::unordered_map<uint64_t, CandidateFailure>& refused, TuneResult& result);

  const Workload& workload_;
  const Space& space_;
  RecordStore& store_;
  Runner& runner_;
  Evaluator& evaluator_;
  const RecordedNames& names_;
  const TuneOptions& options_;
  const uint64_t machine_;
  std::unordered_map<uint64_t, QuantileInterval> times_;  // by lowered hash
};

}  // namespace tunesmith
