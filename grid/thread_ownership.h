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
/// nothing and need not. Dimensions that a variable of `folded` moves show nothing: elements of different
/// iterations of its loop may come to lie at one place.
bool touch_different_elements(const Buffer& buffer, std::span<const LaunchAccess> accesses,
                              std::span<const IterDomain> axes, std::span<const Var> fixed,
                              std::span<const Var> folded);

/// True when it is shown that the indices of an element tell the iteration of the loops over `axes` in which
/// it is accessed, the same one in all accesses. Unlike above, the elements of an iteration may lie between
/// those of others. Conservative.
bool elements_tell_iteration(std::span<const LaunchAccess> accesses, std::span<const IterDomain> axes);

}  // namespace tunesmith
