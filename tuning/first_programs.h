// What a run begins with besides the plain forms: the first programs, as --untuned finds them.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "evaluator.h"
#include "known_results.h"
#include "task.h"

namespace tunesmith {

/// Of the best of some draws those that are no trials yet, until kFirstTried are right. Belongs to the run
/// and its thread; what it is given outlives it.
class FirstPrograms {
 public:
  FirstPrograms(const Workload& workload, const Space& space, int64_t draws, Task& context,
                const Evaluator& evaluator, const KnownResults& known)
      : workload_(workload),
        space_(space),
        draws_(draws),
        context_(context),
        evaluator_(evaluator),
        known_(known) {}

  /// At most `room` of the next. Empty when enough are right, or none is left.
  std::vector<CandidatePtr> next(size_t room);
  /// What became of them.
  void note(std::span<const Measured> results);

 private:
  void draw();

  const Workload& workload_;
  const Space& space_;
  int64_t draws_;  // 0 once they are drawn
  Task& context_;
  const Evaluator& evaluator_;
  const KnownResults& known_;
  std::deque<CandidatePtr> waiting_;  // the most promising first
  size_t right_ = 0;
};

}  // namespace tunesmith
