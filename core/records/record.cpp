#include "tunesmith/records/record.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tunesmith {

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
