// Mistakes in the plan of a network's library: in its memory, and in the kernels' arguments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/plan_library.h"

namespace tunesmith::testing {

struct PlanMutation {
  std::string kind;
  std::string what;  // description for people
  network::LibraryPlan plan;
  std::shared_ptr<std::vector<std::byte>> bytes;  // the bytes that the plan refers to
};

struct PlanMutations {
  std::vector<PlanMutation> wrong;
  int64_t harmless = 0;  // changed lifetimes that put no two tensors in one place
};

/// Each has one mistake. `plan` is the plan of `kernels`, all in f32.
PlanMutations plan_mutations(const network::Network& network,
                             const std::vector<network::RegionKernel>& kernels,
                             const network::LibraryPlan& plan);

}  // namespace tunesmith::testing
