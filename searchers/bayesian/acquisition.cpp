#include "acquisition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tunesmith::bayesian {

double expected_improvement(double mean, double deviation, double best) {
  if (!(deviation > 0.0)) return std::max(mean - best, 0.0);
  const double z = (mean - best) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::max(deviation * (density + z * below), 0.0);
}

std::vector<size_t> choose_batch(const Pool& pool, size_t count,
                                 const std::function<double(size_t slot, size_t point)>& value,
                                 const std::function<void(size_t point)>& chosen) {
  std::vector<bool> taken(pool.size(), false);
  std::vector<size_t> batch;
  const auto best = [&](bool near_only, bool likely_only) {
    size_t found = pool.size();
    double highest = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < pool.size(); ++i) {
      if (taken[i] || (near_only && !pool.near[i]) || (likely_only && pool.validity[i] < 0.5)) continue;
      const double here = value(batch.size(), i);
      if (found == pool.size() || here > highest) {
        found = i;
        highest = here;
      }
    }
    return found;
  };
  while (batch.size() < std::min(count, pool.size())) {
    size_t next = pool.size();
    if (batch.size() % 2 == 0) next = best(true, true);
    if (next == pool.size()) next = best(false, true);
    if (next == pool.size()) next = best(false, false);
    taken[next] = true;
    batch.push_back(next);
    chosen(next);
  }
  return batch;
}

}  // namespace tunesmith::bayesian
