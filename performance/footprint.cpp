#include "footprint.h"

#include <cstdint>
#include <numeric>

namespace tunesmith::features {

Footprint footprint(const std::vector<Step>& steps) {
  double run = 1.0;  // contiguous elements
  struct Pieces {
    double stride;
    double count;
  };
  std::vector<Pieces> outer;
  for (const Step& step : steps) {
    if (step.trips <= 1.0) continue;
    if (step.stride > 0.0 && outer.empty() && step.stride <= run) {
      run += step.stride * (step.trips - 1.0);
      continue;
    }
    if (step.stride > 0.0 && !outer.empty() && outer.back().stride > 0.0) {
      Pieces& last = outer.back();
      const double pieces = step.stride / last.stride;
      if (pieces <= last.count && pieces == static_cast<double>(static_cast<long long>(pieces))) {
        last.count += pieces * (step.trips - 1.0);
        continue;
      }
    }
    outer.push_back({step.stride, step.trips});
  }
  double runs = 1.0;
  int64_t step = 0;
  for (const Pieces& pieces : outer) {
    runs *= pieces.count;
    step = std::gcd(step, pieces.stride > 0.0 ? static_cast<int64_t>(pieces.stride) : 1);
  }
  return {run * runs, runs, static_cast<double>(step)};
}

}  // namespace tunesmith::features
