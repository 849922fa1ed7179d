// Kernels timed in turn within a budget: how many rounds there are, and what is left when one fails.
#pragma once

#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/measure/runner.h"

namespace tunesmith {

/// Where the kernels run: the worker, or what a test puts in its place.
class InterleavedRounds {
 public:
  virtual ~InterleavedRounds() = default;

  /// Takes the kernel into the rounds and calls it once: the seconds of that call. `first`: those taken
  /// before are let go.
  virtual tl::expected<double, CandidateFailure> add(size_t kernel, bool first) = 0;
  /// Are the kernels added so far still there, after a failure of add()?
  virtual bool alive() const = 0;
  struct Samples {
    std::vector<std::vector<double>> seconds;  // of each kernel taken, in the order they were
    bool disturbed = false;
  };
  /// So many samples of each kernel. `expected_seconds`: what that should take.
  virtual tl::expected<Samples, CandidateFailure> time(int rounds, double expected_seconds) = 0;
  /// What each kernel taken does wrong, nothing where it is right, in the order they were taken.
  using Failures = std::vector<std::optional<CandidateFailure>>;
  /// After the last round: calls each once more and compares what it computes.
  virtual tl::expected<Failures, CandidateFailure> check() = 0;
};

/// Runner::interleave of `kernels` kernels.
std::vector<InterleavedTimes> interleave(InterleavedRounds& where, size_t kernels,
                                         const InterleaveOptions& options);

}  // namespace tunesmith
