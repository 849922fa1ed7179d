// Times kernels in turn within a budget: the number of rounds, and what remains after a failure.
#pragma once

#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/measure/runner.h"

namespace tunesmith {

/// Runs the kernels: the worker, or a test double.
class InterleavedRounds {
 public:
  virtual ~InterleavedRounds() = default;

  /// Adds the kernel to the rounds and calls it once; returns the
  /// seconds of that call. `first`: drops the earlier kernels.
  virtual tl::expected<double, CandidateFailure> add(size_t kernel, bool first) = 0;
  /// Are the added kernels still there after a failure of add()?
  virtual bool alive() const = 0;
  struct Samples {
    std::vector<std::vector<double>> seconds;  // for each kernel, in the order added
    bool disturbed = false;
  };
  /// This many samples of each kernel. `expected_seconds`: the expected total time.
  virtual tl::expected<Samples, CandidateFailure> time(int rounds, double expected_seconds) = 0;
  /// The fault of each kernel, nothing if it is correct, in the order added.
  using Failures = std::vector<std::optional<CandidateFailure>>;
  /// After the last round: calls each once more and compares its results.
  virtual tl::expected<Failures, CandidateFailure> check() = 0;
};

/// Implements Runner::interleave for `kernels` kernels.
std::vector<InterleavedTimes> interleave(InterleavedRounds& where, size_t kernels,
                                         const InterleaveOptions& options);

}  // namespace tunesmith
