#include "proposals.h"

#include <algorithm>

#include "plain_forms.h"
#include "stopwatch.h"

namespace tunesmith {

void Proposals::add_plain_forms(const Program& program, Target& target, const KnownResults& known,
                                TrialLog& log) {
  std::vector<SearchContext::Draft> drafts;
  for (Trace& form : plain_forms(program, target)) drafts.push_back({std::move(form), RandomStream(0)});
  std::vector<CandidatePtr> forms = context_.materialise(drafts);
  if (forms.front()) {
    log.set_unscheduled(forms.front()->lowered_hash);
    if (const std::optional<Measured> baseline = known.in_history(forms.front()->lowered_hash))
      log.note_baseline(*baseline);
  }
  for (CandidatePtr& form : forms) {
    if (!form) continue;  // refused, and counted as such
    const bool again = !plain_hashes_.insert(form->lowered_hash).second;
    if (!again && !context_.is_measured(form->lowered_hash)) plain_.push_back(std::move(form));
  }
}

std::vector<CandidatePtr> Proposals::take_plain_forms(size_t room) {
  std::vector<CandidatePtr> rest = plain_;
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(std::min(room, rest.size())));
  plain_.resize(plain_.size() - rest.size());
  return std::exchange(plain_, std::move(rest));
}

std::vector<CandidatePtr> Proposals::next(int64_t trials, int64_t room) {
  Searcher* const searcher = stages_.enter(trials, context_);
  exhausted_ = searcher == nullptr;
  if (exhausted_) return {};
  const int64_t wanted = std::min(room, stages_.end() - trials);
  std::vector<CandidatePtr> proposed;
  double seconds = 0.0;
  {
    const MachineLock::Turn turn = evaluator_.compute_turn();
    context_.begin_round(trials);
    seeds_.renew(context_);
    const double model_before = context_.model_seconds();
    {
      const Stopwatch watch(seconds);
      proposed = searcher->propose(context_, static_cast<size_t>(wanted));
    }
    spent_ += seconds - (context_.model_seconds() - model_before);
  }
  if (proposed.empty()) stages_.leave(trials);
  return proposed;
}

}  // namespace tunesmith
