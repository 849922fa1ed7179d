// Does each thread of a launch touch elements of its own? What join_threads must know of a buffer.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// One load or store of a buffer.
struct LaunchAccess {
  const Stmt* stmt = nullptr;
  std::vector<Expr> indices;
  bool writes = false;
};

/// True when it is shown that iterations of the loops over `axes` touch different elements, wherever the
/// loops in `fixed` stand; all other loops around an access run. Conservative. An axis of extent 1 separates
/// nothing and need not.
bool touch_different_elements(const Buffer& buffer, std::span<const LaunchAccess> accesses,
                              std::span<const IterDomain> axes, std::span<const Var> fixed);

}  // namespace tunesmith
