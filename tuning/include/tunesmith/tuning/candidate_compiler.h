// Candidates compiled so that they can be verified.
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
  /// The smaller workload that the kernel is verified on (MeasureRequest::instance). Null where it is
  /// verified at its own shape.
  std::shared_ptr<const Workload> instance;
};

/// For targets that verify twins (twin_verification.h) it looks for a candidate's twin first: the same
/// schedule of a smaller instance of the workload, which can be run in a short time. Safe to use from several
/// threads. `workload` and `space` must outlive it.
class CandidateCompiler {
 public:
  CandidateCompiler(const Workload& workload, const Space& space);
  ~CandidateCompiler();
  CandidateCompiler(CandidateCompiler&& other) noexcept;

  /// Or the compiler's message. The same answer whatever was asked before.
  tl::expected<CandidateKernel, std::string> compile(const Candidate& candidate,
                                                     const std::string& symbol) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
