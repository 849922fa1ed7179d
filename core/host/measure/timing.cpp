#include "tunesmith/measure/timing.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0.0; }

Timing make_timing(std::vector<double> samples) {
  check_invariant(!samples.empty() && std::ranges::all_of(samples, is_time),
                  "samples are finite and positive");
  Timing timing;
  timing.min = *std::ranges::min_element(samples);
  timing.median = median_of(samples);
  timing.samples = std::move(samples);
  return timing;
}

}  // namespace tunesmith
