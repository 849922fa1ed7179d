#include "tunesmith/search/encoding.h"

namespace tunesmith {

uint64_t sketch_key(const Trace& trace) { return trace.with_open_decisions().hash(); }

std::vector<double> encode(std::span<const SamplingPoint> points, const Trace& trace) {
  std::vector<double> encoded;
  for (const SamplingPoint& point : points) {
    const std::optional<Decision>& decision = trace[point.position].decision;
    check_invariant(decision.has_value(), "what is encoded is decided");
    const std::vector<double> part = point.kind->encode(point.domain, *decision);
    encoded.insert(encoded.end(), part.begin(), part.end());
  }
  return encoded;
}

double count_points(std::span<const SamplingPoint> points) {
  double count = 1.0;
  for (const SamplingPoint& point : points) count *= static_cast<double>(point.kind->count(point.domain));
  return count;
}

}  // namespace tunesmith
