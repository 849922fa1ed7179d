// Candidates as data: written by one process, and recreated by another one with the same packs.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/records/recorded_candidate.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/target_identity.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The data from which another process can recreate `candidate`, which `space` made of `workload`.
RecordedCandidate recorded_candidate(const Workload& workload, const Space& space, const Candidate& candidate,
                                     int threads);

struct CandidateCheck {
  CandidatePtr candidate;                // null: it cannot be recreated here
  std::string refusal;                   // why not, or that it is another program; "" if it is the same
  std::vector<std::string> differences;  // of target and extensions: missing, or different

  bool same() const { return refusal.empty(); }
};

/// Recreates the candidate from its trace: uses only the target and extensions of `space`, no modules.
/// Equal lowered hashes mean equal programs, with the called intrinsics, whatever the differences;
/// times are comparable only without differences. Throws nothing for problems of the candidate.
CandidateCheck check_candidate(const RecordedCandidate& recorded, const Space& space);

/// The differences, one sentence each: the target, its code generator, the lowering, each extension.
std::vector<std::string> target_differences(const TargetIdentity& theirs, const TargetIdentity& ours);

}  // namespace tunesmith
#pragma GCC visibility pop
