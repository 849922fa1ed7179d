// A facet of a separate device: candidates are verified as their twins, the
// same schedule on a smaller instance of the workload (docs/devices.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct Candidate;
class Space;
struct Workload;

/// A candidate on a smaller instance that stands for one on the full shape. Neither is null.
struct Twin {
  std::shared_ptr<const Workload> workload;
  std::shared_ptr<const Candidate> candidate;
};

/// Finds the twins of one workload's candidates. Thread-safe.
class ReducedInstanceFinder {
 public:
  virtual ~ReducedInstanceFinder();

  /// The candidate's twin, independent of earlier calls; nothing if the candidate itself must be verified.
  /// Throws LowerError if the target refuses the candidate.
  virtual std::optional<Twin> find(const Candidate& candidate) const = 0;
};

/// Owned by its target (SeparateDevice::twins()). Called from many threads at once.
class TwinVerification {
 public:
  virtual ~TwinVerification();

  /// `workload` and `space`, which uses this target, outlive it. Never null.
  virtual std::unique_ptr<ReducedInstanceFinder> make_finder(const Workload& workload,
                                                             const Space& space) const = 0;
  /// Compiles `twin`, with the modelled time of `lowered`; refuses what Target::compile(lowered) refuses
  /// without running it. The unexpected value is the compiler's message.
  virtual tl::expected<CompiledKernel, std::string> compile_reduced_instance(const LoweredProgram& lowered,
                                                                             const LoweredProgram& twin,
                                                                             const std::string& symbol) = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
