// The rounds of a run: candidates are measured, and what comes of them is learned.
#pragma once

#include <cstdint>
#include <vector>

#include "evaluator.h"
#include "known_results.h"
#include "stop_rule.h"
#include "task.h"
#include "trial_log.h"

namespace tunesmith {

/// Belongs to the run and its thread; what it is given outlives it.
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

  /// Measures candidates, as many as there is room for before `end`, and learns from them. What is on record
  /// is taken from there. Answers in the order of `proposed`; what a stop left out is not there.
  std::vector<Measured> run(std::vector<CandidatePtr> proposed, int64_t end);
  /// The same for trials of an earlier process, which failed then for a reason that may have passed.
  void run_again(const std::vector<CandidatePtr>& retried);

 private:
  /// What the records are to say of the round: its number, and the cost model's scores before it learns.
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
  int begun_ = 0;  // by this process
};

}  // namespace tunesmith
