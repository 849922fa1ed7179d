#include "tunesmith/tuning/candidate_compiler.h"

#include <optional>

#include "tunesmith/target/separate_device.h"
#include "tunesmith/target/twin_verification.h"

namespace tunesmith {

struct CandidateCompiler::Impl {
  Target& target;
  TwinVerification* twins;                        // the target's; null if it verifies no twins
  std::unique_ptr<ReducedInstanceFinder> finder;  // finds instances for `twins`
};

CandidateCompiler::CandidateCompiler(const Workload& workload, const Space& space)
    : impl_(new Impl{space.target(), twins_of(space.target()), nullptr}) {
  if (impl_->twins != nullptr) impl_->finder = impl_->twins->make_finder(workload, space);
}

CandidateCompiler::~CandidateCompiler() = default;
CandidateCompiler::CandidateCompiler(CandidateCompiler&& other) noexcept = default;

tl::expected<CandidateKernel, std::string> CandidateCompiler::compile(const Candidate& candidate,
                                                                      const std::string& symbol) const {
  std::optional<Twin> twin;
  try {
    if (impl_->finder) twin = impl_->finder->find(candidate);
  } catch (const LowerError& refusal) {
    return tl::make_unexpected(std::string(refusal.what()));
  }
  auto kernel =
      twin ? impl_->twins->compile_reduced_instance(candidate.lowered, twin->candidate->lowered, symbol)
           : impl_->target.compile(candidate.lowered, symbol);
  if (!kernel) return tl::make_unexpected(std::move(kernel.error()));
  return CandidateKernel{std::move(*kernel), twin ? twin->workload : nullptr};
}

}  // namespace tunesmith
