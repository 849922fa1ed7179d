#include <algorithm>
#include <cmath>

#include "tunesmith/tuning/tune_many.h"

namespace tunesmith {
namespace {

/// Number of recent improvements used for the estimate.
constexpr size_t kRecent = 3;
/// Minimum gain of an unseen improvement, as a share of the time.
constexpr double kMinStep = 0.01;

/// The mean logarithm of the factors by which recent improvements lowered the time.
double usual_step(const std::vector<Improvement>& improvements) {
  const size_t steps = std::min(kRecent, improvements.size() - 1);
  if (steps == 0) return kMinStep;
  const double before = improvements[improvements.size() - 1 - steps].seconds;
  return std::max(kMinStep, std::log(before / improvements.back().seconds) / static_cast<double>(steps));
}

}  // namespace

double expected_share(const TaskSet& set, size_t task) {
  const TaskHistory& history = set.tasks[task];
  if (history.improvements.empty()) return 0.0;
  const auto round = static_cast<double>(set.round);
  const double chance = round / (static_cast<double>(history.trials) + round);
  const double step = chance * usual_step(history.improvements);
  double whole = 0.0;
  for (const TaskHistory& each : set.tasks) {
    if (!each.improvements.empty()) whole += each.best() * set.slope(each);
  }
  // For a geometric mean the slope is per part of the time, and best() * slope is the weight.
  return history.best() * set.slope(history) * (1.0 - std::exp(-step)) / whole;
}

}  // namespace tunesmith
