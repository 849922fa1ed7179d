// A candidate: one point of the space, replayed, finished and lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tunesmith/features/features.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/timing.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

/// Immutable, shared, readable from any thread.
struct Candidate {
  /// Complete, decisions as repaired: what is recorded, and whose searchable part a searcher mutates.
  Trace trace;
  /// The sampling instructions of `trace` with the domains they met.
  std::vector<SamplingPoint> points;
  /// The finished program, lowered for the space's target. What features are computed from.
  LoweredProgram lowered;
  /// Of `lowered`, and what the candidate is: traces that lower to one program are one candidate.
  uint64_t lowered_hash = 0;

  /// The rows of `lowered` on `device`, made at the first call and kept. Every call names the same machine.
  const FeatureRows& features(const DeviceModel& device) const;

 private:
  mutable std::once_flag extracted_;
  mutable FeatureRows rows_;
};
using CandidatePtr = std::shared_ptr<const Candidate>;

/// A candidate and what became of it.
struct Measured {
  CandidatePtr candidate;
  std::optional<Timing> timing;             // present exactly when it succeeded
  std::optional<CandidateFailure> failure;  // present exactly when it failed
};

}  // namespace tunesmith
