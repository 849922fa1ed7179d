// The contribution of each module to a space, for `tunesmith spaces explain`.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The contribution of one module to a space. A point is a sketch with all its decisions;
/// points are counted over the domains at the time when the sketches were drawn.
struct ModuleShare {
  std::string module;
  double points = 0.0;   // the share of points in whose sketch it took part, 0 to 1
  double choices = 0.0;  // the share of the decisions' bits in its instructions, 0 to 1
};

struct SpaceShares {
  double points = 0.0;               // of the whole space
  std::vector<ModuleShare> modules;  // of all modules, in the order of their first events
};

SpaceShares shares_of(const SketchSet& set);

}  // namespace tunesmith
#pragma GCC visibility pop
