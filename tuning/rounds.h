// The rounds of a run: measures candidates and learns from the results.
#pragma once

#include <cstdint>
#include <vector>

#include "evaluator.h"
#include "known_results.h"
#include "stop_rule.h"
#include "task.h"
#include "trial_log.h"

namespace tunesmith {

/// Belongs to the run and its thread; its arguments outlive it.
class Rounds {
 public:
  /// How well the cost model ordered each round is added to `model_batches`.
  Rounds(Task& context, Evaluator& evaluator, KnownResults& known, TrialLog& log, const StopRule& rule,
         std::vector<ModelBatch>& model_batches)
      : context_(context),
        evaluator_(evaluator),
        known_(known),
        log_(log),
        rule_(rule),
        model_batches_(model_batches) {}

  /// Measures as many candidates as there is room for before `end`, and learns from them; recorded
  /// results are reused. Returns results in the order of `proposed`, without those that a stop skipped.
  std::vector<Measured> run(std::vector<CandidatePtr> proposed, int64_t end);
  /// The same for transient failures of trials before an interruption.
  void run_again(const std::vector<CandidatePtr>& retried);

 private:
  /// The round's fields in records: its number, and the cost model's scores before learning.
  RoundRecord begin(const std::vector<CandidatePtr>& proposed);
  std::vector<Measured> evaluate(const std::vector<CandidatePtr>& proposed, const RoundRecord& record,
                                 TrialLog::Kind kind);
  void evaluate_model(const std::vector<Measured>& results, const RoundRecord& record);

  Task& context_;
  Evaluator& evaluator_;
  KnownResults& known_;
  TrialLog& log_;
  const StopRule& rule_;
  std::vector<ModelBatch>& model_batches_;
  int begun_ = 0;  // in this process
};

}  // namespace tunesmith
