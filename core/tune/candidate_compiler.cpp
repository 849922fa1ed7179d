#include "tunesmith/tune/candidate_compiler.h"

#include <optional>

#include "tune/twin_finder.h"

namespace tunesmith {

struct CandidateCompiler::Impl {
  Target& target;
  std::optional<TwinFinder> twins;  // where the target verifies twins
};

CandidateCompiler::CandidateCompiler(const Workload& workload, const Space& space)
    : impl_(new Impl{space.target(), std::nullopt}) {
  if (space.target().verifies_twins()) impl_->twins.emplace(workload, space);
}

CandidateCompiler::~CandidateCompiler() = default;
CandidateCompiler::CandidateCompiler(CandidateCompiler&& other) noexcept = default;

tl::expected<CandidateKernel, std::string> CandidateCompiler::compile(const Candidate& candidate,
                                                                      const std::string& symbol) const {
  std::optional<Twin> twin;
  try {
    if (impl_->twins) twin = impl_->twins->find(candidate);
  } catch (const LowerError& refusal) {
    return tl::make_unexpected(std::string(refusal.what()));
  }
  auto kernel = twin ? impl_->target.compile_twin(candidate.lowered, twin->candidate->lowered, symbol)
                     : impl_->target.compile(candidate.lowered, symbol);
  if (!kernel) return tl::make_unexpected(std::move(kernel.error()));
  return CandidateKernel{std::move(*kernel), twin ? twin->workload : nullptr};
}

}  // namespace tunesmith
