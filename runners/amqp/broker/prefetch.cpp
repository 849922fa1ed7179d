#include "broker/prefetch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tunesmith::broker {
namespace {

constexpr double kMaxAhead = 31.0;

/// Moves the average towards the last of about eight values.
void blend(double& average, double value) {
  constexpr double kShare = 0.125;
  average = average == 0.0 ? value : average + kShare * (value - average);
}

}  // namespace

void Prefetch::job_took(double seconds) { blend(job_, seconds); }

void Prefetch::confirmation_took(double seconds) { blend(confirmation_, seconds); }

uint16_t Prefetch::wanted() const {
  if (job_ == 0.0) return 2;
  // The acknowledgement, and the delivery that it allows, take about as long as the confirmation.
  const double ahead = std::ceil(2.0 * confirmation_ / job_);
  return std::bit_ceil(static_cast<uint16_t>(1.0 + std::clamp(ahead, 1.0, kMaxAhead)));
}

}  // namespace tunesmith::broker
