// What is kept of candidates that were measured: without their programs, and what they have in common once.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tunesmith/search/candidate.h"

namespace tunesmith {

/// Called by one thread at a time.
class KeptCandidates {
 public:
  CandidatePtr keep(const Candidate& candidate);

 private:
  std::shared_ptr<const Instruction> shared(const std::shared_ptr<const Instruction>& instruction);
  SamplingPoints shared(const SamplingPoints& points);

  // By a hash; looked up in, never walked.
  std::unordered_map<uint64_t, std::vector<std::shared_ptr<const Instruction>>> instructions_;
  std::unordered_map<uint64_t, std::vector<SamplingPoints>> points_;
};

}  // namespace tunesmith
