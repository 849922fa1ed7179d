// Proposes a run's candidates.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "evaluator.h"
#include "known_results.h"
#include "search_stages.h"
#include "seed_source.h"
#include "task.h"
#include "trial_log.h"

namespace tunesmith {

/// Proposes the plain forms first, then what the space's searchers propose in turn. Belongs to the run and
/// its thread; its arguments outlive it.
class Proposals {
 public:
  /// `spent`: seconds that searchers took, without the cost model's, are added there. `trials`: of the run.
  Proposals(const Space& space, int64_t trials, Task& context, const Evaluator& evaluator, SeedSource& seeds,
            double& spent)
      : context_(context), evaluator_(evaluator), seeds_(seeds), spent_(spent), stages_(space, trials) {}

  /// Adds the program's plain forms that are no trials yet, and sets the log's baseline.
  void add_plain_forms(const Program& program, Target& target, const KnownResults& known, TrialLog& log);
  bool has_plain_forms() const { return !plain_.empty(); }
  /// Takes at most `room` of them.
  std::vector<CandidatePtr> take_plain_forms(size_t room);
  /// Is the program one of the plain forms, tried or not?
  bool is_plain(uint64_t lowered_hash) const { return plain_hashes_.contains(lowered_hash); }

  /// At most `room` candidates of the searcher whose turn it is after this many trials. If
  /// it proposes nothing, the next searcher's turn begins. exhausted() if none is left.
  std::vector<CandidatePtr> next(int64_t trials, int64_t room);
  bool exhausted() const { return exhausted_; }
  /// The last proposer; null if there is none.
  Searcher* searcher() const { return stages_.current(); }

 private:
  Task& context_;
  const Evaluator& evaluator_;
  SeedSource& seeds_;
  double& spent_;
  SearchStages stages_;
  std::vector<CandidatePtr> plain_;
  std::set<uint64_t> plain_hashes_;
  bool exhausted_ = false;
};

}  // namespace tunesmith
