// A candidate: one point of the space, replayed, finished and lowered.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tunesmith/lower/lower.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/timing.h"
#include "tunesmith/target/feature_column.h"
#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// An immutable, shared vector of sampling points: copies take no memory.
class SamplingPoints {
 public:
  SamplingPoints() : SamplingPoints(std::vector<SamplingPoint>()) {}
  SamplingPoints(std::vector<SamplingPoint> points)  // NOLINT(google-explicit-constructor): is one
      : points_(std::make_shared<const std::vector<SamplingPoint>>(std::move(points))) {}

  size_t size() const { return points_->size(); }
  bool empty() const { return points_->empty(); }
  const SamplingPoint& operator[](size_t i) const { return (*points_)[i]; }
  const SamplingPoint* begin() const { return points_->data(); }
  const SamplingPoint* end() const { return points_->data() + points_->size(); }

 private:
  std::shared_ptr<const std::vector<SamplingPoint>> points_;
};

/// Immutable, shared, readable from any thread. Candidates of a history (MeasuredHistory) have a trace but no
/// program.
struct Candidate {
  /// Complete, with repaired decisions; it is recorded, and searchers mutate its searchable part. Without a
  /// program: only the searchable part.
  Trace trace;
  /// The sampling instructions of `trace` with their domains.
  SamplingPoints points;
  /// The finished program, lowered for the space's target.
  LoweredProgram lowered;
  /// The hash of `lowered`, which identifies the candidate: traces that lower to one program are equal.
  uint64_t lowered_hash = 0;
  /// The feature columns that the space's extensions add; null if none.
  std::shared_ptr<const std::vector<AddedColumn>> added_columns;

  bool has_program() const { return !lowered.program.outputs.empty(); }

  /// Data that a library derives from the program, such as its features: calls `make()` once for each type
  /// T and keeps the result with the candidate. An exception of `make` is passed on, and nothing is kept.
  template <typename T, typename Make>
  const T& kept(const Make& make) const {
    const std::lock_guard lock(mutex_);
    for (const std::any& one : kept_) {
      if (const auto* found = std::any_cast<std::shared_ptr<const T>>(&one)) return **found;
    }
    return **std::any_cast<std::shared_ptr<const T>>(&kept_.emplace_back(std::make_shared<const T>(make())));
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::any> kept_;
};
using CandidatePtr = std::shared_ptr<const Candidate>;

/// A candidate and its result.
struct Measured {
  CandidatePtr candidate;
  std::optional<Timing> timing;             // present exactly when it succeeded
  std::optional<CandidateFailure> failure;  // present exactly when it failed
};

}  // namespace tunesmith
#pragma GCC visibility pop
