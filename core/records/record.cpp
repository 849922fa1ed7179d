#include "tunesmith/records/record.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0.0; }

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}
}  // namespace

Timing make_timing(std::vector<double> samples) {
  check_invariant(!samples.empty() && std::ranges::all_of(samples, is_time),
                  "samples are finite and positive");
  Timing timing;
  timing.min = *std::ranges::min_element(samples);
  timing.median = median_of(samples);
  timing.samples = std::move(samples);
  return timing;
}

std::string record_fault(const Record& record) {
  if (record.id.empty()) return "its job id is empty";
  if (record.workload.empty()) return "its workload is empty";
  if (record.target.empty()) return "its target is empty";
  if (record.trace_version < 0) return "its trace version is negative";
  if (record.verified_error && !std::isfinite(*record.verified_error))
    return "its verified error is not finite";
  if (record.failure) return record.timing ? "it failed and yet has a time" : "";
  if (!record.timing) return "it succeeded and yet has no time";
  if (!record.verified_error) return "it succeeded and yet was not verified";
  const Timing& timing = *record.timing;
  if (timing.samples.empty()) return "it has a time and yet no samples";
  if (!is_time(timing.min) || !is_time(timing.median) || !std::ranges::all_of(timing.samples, is_time)) {
    return "a time is not finite and positive";
  }
  if (!std::isfinite(timing.prepare) || timing.prepare < 0.0) return "its time of preparing is no time";
  return "";
}

int64_t now_ms() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

}  // namespace tunesmith
