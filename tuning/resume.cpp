#include "resume.h"

#include <deque>
#include <utility>

#include "search_stages.h"

namespace tunesmith {
namespace {

/// How many of the run's `own` recorded programs are at the end and belong to a round that is proposed again.
int64_t cut_short(int64_t own, Task& context, const Space& space, const TuneOptions& options) {
  const int64_t begun = own - own % options.batch;
  if (own >= options.trials || begun == own) return 0;
  SearchStages then(space, options.trials);
  const Searcher* const searcher = then.enter(begun, context);
  return searcher != nullptr && searcher->repeatable() ? own - begun : 0;
}

class Taking {
 public:
  Taking(Task& context, TrialLog& log, Resumed& result) : context_(context), log_(log), result_(result) {}

  void add(KnownProgram program) {
    if (program.retry) {
      if (!program.own_ms) return;
      result_.retried.push_back(std::move(program.measured.candidate));
      log_.add_failed_before();
      return;
    }
    if (program.own_ms) {
      log_.add(program.measured, TrialLog::Kind::Recorded);
    } else {
      log_.add_of_others(program.measured);
    }
    known_.push_back(std::move(program.measured));
  }
  void learn() {
    if (!known_.empty()) context_.learn(std::exchange(known_, {}));
  }

 private:
  Task& context_;
  TrialLog& log_;
  Resumed& result_;
  std::vector<Measured> known_;
};

}  // namespace

Resumed resume_run(History& history, Task& context, TrialLog& log, const Space& space,
                   const TuneOptions& options) {
  context.note_measured(history.others());
  Resumed result;
  result.known = static_cast<int64_t>(history.others().size());
  Taking taking(context, log, result);
  std::deque<KnownProgram> last;  // programs that may belong to a round cut short
  int64_t own = 0;
  int64_t own_last = 0;  // how many in `last` are the run's own
  for (std::vector<KnownProgram> next; !(next = history.next(context.pool())).empty();) {
    result.known += static_cast<int64_t>(next.size());
    for (KnownProgram& program : next) {
      if (program.measured.timing && !program.accepted)
        result.unchecked.insert(program.measured.candidate->lowered_hash);
      if (program.own_ms) {
        log.add_recorded_ms(*program.own_ms);
        ++own;
        ++own_last;
      }
      last.push_back(std::move(program));
    }
    for (; own_last > options.batch; last.pop_front()) {
      if (last.front().own_ms) --own_last;
      taking.add(std::move(last.front()));
    }
    taking.learn();
  }
  result.lost = history.lost();
  const int64_t cut = cut_short(own, context, space, options);
  for (KnownProgram& program : last) {
    if (!program.own_ms || own_last-- > cut) {
      taking.add(std::move(program));
    } else if (!program.retry) {
      result.cut_round.push_back(std::move(program.measured));
    }
  }
  taking.learn();
  return result;
}

}  // namespace tunesmith
