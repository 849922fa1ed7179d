#include "first_programs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tunesmith/tuning/first_program.h"

namespace tunesmith {
namespace {

/// With more programs of a task on record, a run begins with these instead of draws.
constexpr size_t kLittleKnown = 16;

}  // namespace

void FirstPrograms::draw() {
  DrawOptions options;
  options.draws = std::exchange(draws_, 0);
  if (options.draws == 0 || context_.history().size() > kLittleKnown) return;
  const MachineLock::Turn turn = evaluator_.compute_turn();
  RankedDraws ranked =
      best_of_draws(workload_, space_, *space_.create_cost_model(), options, context_.pool());
  waiting_.assign(ranked.best.begin(), ranked.best.end());
}

std::vector<CandidatePtr> FirstPrograms::next(size_t room) {
  draw();
  std::vector<CandidatePtr> taken;
  while (!waiting_.empty() && taken.size() < room && right_ + taken.size() < kFirstTried) {
    CandidatePtr candidate = std::move(waiting_.front());
    waiting_.pop_front();
    if (!context_.is_measured(candidate->lowered_hash)) {
      taken.push_back(std::move(candidate));
      continue;
    }
    const std::optional<Measured> before = known_.in_history(candidate->lowered_hash);
    if (before && before->timing) ++right_;
  }
  return taken;
}

void FirstPrograms::note(std::span<const Measured> results) {
  right_ += static_cast<size_t>(
      std::ranges::count_if(results, [](const Measured& one) { return one.timing.has_value(); }));
}

}  // namespace tunesmith
