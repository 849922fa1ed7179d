// Compiles candidates for verification.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct CandidateKernel {
  CompiledKernel kernel;
  /// The smaller workload that the kernel is verified on
  /// (MeasureRequest::instance). Null if it is verified on its own shape.
  std::shared_ptr<const Workload> instance;
};

/// For targets that verify twins (twin_verification.h), first looks for a candidate's twin: the same
/// schedule of a smaller, quickly executed instance. Thread-safe. `workload` and `space` must outlive it.
class CandidateCompiler {
 public:
  CandidateCompiler(const Workload& workload, const Space& space);
  ~CandidateCompiler();
  CandidateCompiler(CandidateCompiler&& other) noexcept;

  /// Returns the kernel or the compiler's message. Independent of earlier calls.
  tl::expected<CandidateKernel, std::string> compile(const Candidate& candidate,
                                                     const std::string& symbol) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
