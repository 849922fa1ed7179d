// One candidate on all data sets of its task.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "worker/call_resources.h"
#include "worker/verify_candidate.h"

namespace tunesmith {

/// The verdicts on the data sets, up to the first failure. `at_once`: each set has its own thread.
std::vector<Verdict> verify_on_sets(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                    std::deque<DataSet>& sets, CallResources& resources, bool at_once);

/// Two threads call the kernel concurrently, each on its own data set;
/// returns the fault if that is wrong although single calls were correct.
std::optional<CandidateFailure> wrong_at_once(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                              std::deque<DataSet>& sets, CallResources& resources);

}  // namespace tunesmith
