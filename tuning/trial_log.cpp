#include "trial_log.h"

#include <algorithm>

#include "tunesmith/records/record.h"

namespace tunesmith {

void TrialLog::add(const Measured& one, Kind kind) {
  leaders_.add(one);
  note_baseline(one);
  if (kind != Kind::Again) ++result_.trials;
  if (kind == Kind::Recorded) ++result_.resumed;
  count(one);
  report();
}

void TrialLog::repeat(const Measured& one) {
  ++result_.trials;
  ++result_.resumed;
  count(one);
  report();
}

void TrialLog::add_failed_before() {
  ++result_.trials;
  ++result_.resumed;
}

void TrialLog::count(const Measured& one) {
  if (static_cast<int64_t>(trial_ms_.size()) < result_.trials) trial_ms_.push_back(now_ms());
  if (one.timing) {
    ++result_.valid;
    if (improvements_.empty() || one.timing->min < improvements_.back().seconds)
      improvements_.push_back({result_.trials, one.timing->min});
  }
  if (one.failure) {
    ++result_.failures[one.failure->cause];
    result_.first_failures.try_emplace(one.failure->cause, one.failure->message);
  }
}

void TrialLog::add_of_others(const Measured& one) {
  leaders_.add(one);
  if (!one.timing) return;
  const double seconds = one.timing->min;
  const auto own =
      std::ranges::find_if(improvements_, [](const Improvement& known) { return known.trials > 0; });
  if (own != improvements_.begin() && std::prev(own)->seconds <= seconds) return;
  const auto place = improvements_.insert(own, {0, seconds});
  const auto better = std::find_if(place + 1, improvements_.end(),
                                   [&](const Improvement& known) { return known.seconds < seconds; });
  improvements_.erase(place + 1, better);
}

void TrialLog::note_baseline(const Measured& one) {
  if (one.candidate->lowered_hash == unscheduled_ && one.timing) result_.baseline_seconds = one.timing->min;
}

}  // namespace tunesmith
