// Mistakes in the plan of a network's library: of memory, and of what kernels are given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/plan_library.h"

namespace tunesmith::testing {

struct PlanMutation {
  std::string kind;
  std::string what;  // for people
  network::LibraryPlan plan;
  std::shared_ptr<std::vector<std::byte>> bytes;  // that the plan refers to
};

struct PlanMutations {
  std::vector<PlanMutation> wrong;
  int64_t harmless = 0;  // lifetimes that were changed without two tensors meeting in one place
};

/// One mistake in each. `plan` is that of `kernels`, all in f32.
PlanMutations plan_mutations(const network::Network& network,
                             const std::vector<network::RegionKernel>& kernels,
                             const network::LibraryPlan& plan);

}  // namespace tunesmith::testing
