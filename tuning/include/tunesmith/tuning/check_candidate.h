// Candidates that travel: written by the process that has one, and made again by one that has the same packs.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/records/recorded_candidate.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/target_identity.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What another process needs of `candidate`, which `space` has made of `workload`.
RecordedCandidate recorded_candidate(const Workload& workload, const Space& space, const Candidate& candidate,
                                     int threads);

struct CandidateCheck {
  CandidatePtr candidate;                // null: it cannot be made here
  std::string refusal;                   // why it cannot, or is another program; "" when it is the same
  std::vector<std::string> differences;  // of the target and the extensions: what is lacking, or another one

  bool same() const { return refusal.empty(); }
};

/// Makes the candidate by its trace alone: no module of `space` is asked, only its target and extensions. The
/// same lowered hash means the same program, called intrinsics included, whatever the differences; times are
/// comparable only where there are none. Throws nothing for what the candidate says.
CandidateCheck check_candidate(const RecordedCandidate& recorded, const Space& space);

/// What differs, one sentence for each part: the target, its code generator, the lowering, each extension.
std::vector<std::string> target_differences(const TargetIdentity& theirs, const TargetIdentity& ours);

}  // namespace tunesmith
#pragma GCC visibility pop
