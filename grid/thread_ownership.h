// Decides whether each thread of a launch accesses only its own elements, for join_threads.
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

/// True if iterations of the loops over `axes` are proved to access different elements, for all iterations of
/// the loops in `fixed`, while all other loops around an access run. Conservative. Ignores axes of extent 1.
/// Dimensions whose index depends on a variable in `folded` prove nothing: elements of different iterations
/// of its loop may have the same address.
bool touch_different_elements(const Buffer& buffer, std::span<const LaunchAccess> accesses,
                              std::span<const IterDomain> axes, std::span<const Var> fixed,
                              std::span<const Var> folded);

/// True if an element's indices are proved to determine the iteration of the loops over `axes` that accesses
/// it, equally in all accesses. Here the elements of different iterations may interleave. Conservative.
bool elements_tell_iteration(std::span<const LaunchAccess> accesses, std::span<const IterDomain> axes);

}  // namespace tunesmith
