// The end of a run: its fastest programs are checked where that is due, timed again and put in order.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "evaluator.h"
#include "known_results.h"
#include "leaders.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Belongs to the run and its thread; what it is given outlives it.
class FinalRanking {
 public:
  FinalRanking(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
               Evaluator& evaluator, const TuneOptions& options, uint64_t machine)
      : workload_(workload),
        space_(space),
        store_(store),
        runner_(runner),
        evaluator_(evaluator),
        options_(options),
        machine_(machine) {}

  /// Ranks the leaders, without those that only an earlier check accepted and this one refuses, and records
  /// the times and the machine's peak as the run's.
  void rank(Leaders leaders, const KnownResults& known, const RecordedRun& run, const TaskKey& task,
            TuneResult& result);
  /// What the ranking said of a program; nothing where it was not in all rounds.
  std::optional<QuantileInterval> time_of(uint64_t lowered_hash) const;

 private:
  Leaders checked(Leaders leaders, const KnownResults& known, TuneResult& result);

  const Workload& workload_;
  const Space& space_;
  RecordStore& store_;
  Runner& runner_;
  Evaluator& evaluator_;
  const TuneOptions& options_;
  const uint64_t machine_;
  std::unordered_map<uint64_t, QuantileInterval> times_;  // by lowered hash
};

}  // namespace tunesmith
