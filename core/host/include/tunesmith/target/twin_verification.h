// A facet of a separate device: candidates that are verified as their twins, the same schedule of a smaller
// instance of the workload (docs/devices.md).
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

/// A candidate of a smaller instance, which stands for one of the full shape. Neither is null.
struct Twin {
  std::shared_ptr<const Workload> workload;
  std::shared_ptr<const Candidate> candidate;
};

/// Finds the twins of one workload's candidates. Safe to use from several threads.
class ReducedInstanceFinder {
 public:
  virtual ~ReducedInstanceFinder();

  /// The same answer whatever was asked before. Nothing for a candidate that is to be verified as it is.
  /// Throws LowerError where the target refuses the candidate.
  virtual std::optional<Twin> find(const Candidate& candidate) const = 0;
};

/// Owned by its target (SeparateDevice::twins()). Called from many threads at once.
class TwinVerification {
 public:
  virtual ~TwinVerification();

  /// `workload` and `space`, which is of this target, outlive it. Never null.
  virtual std::unique_ptr<ReducedInstanceFinder> make_finder(const Workload& workload,
                                                             const Space& space) const = 0;
  /// An object that runs `twin` and has the modelled time of `lowered`, which is refused for all that
  /// Target::compile() finds without running it. The unexpected value is the compiler's message.
  virtual tl::expected<CompiledKernel, std::string> compile_reduced_instance(const LoweredProgram& lowered,
                                                                             const LoweredProgram& twin,
                                                                             const std::string& symbol) = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
