// The draws with which a run begins after the plain forms, as --untuned finds them.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "evaluator.h"
#include "known_results.h"
#include "task.h"

namespace tunesmith {

/// Proposes the best of some draws, without programs that are trials already, until kFirstTried are correct.
/// Belongs to the run and its thread; its arguments outlive it.
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

  /// At most `room` draws. Empty when enough are correct, or none is left.
  std::vector<CandidatePtr> next(size_t room);
  /// Counts the correct ones.
  void note(std::span<const Measured> results);

 private:
  void draw();

  const Workload& workload_;
  const Space& space_;
  int64_t draws_;  // 0 after drawing
  Task& context_;
  const Evaluator& evaluator_;
  const KnownResults& known_;
  std::deque<CandidatePtr> waiting_;  // the most promising first
  size_t right_ = 0;
};

}  // namespace tunesmith
