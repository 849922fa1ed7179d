// What each module of a space contributes to it: `tunesmith spaces explain`.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How much of a space is one module's. A point is a sketch with all its decisions; they are counted over the
/// domains that the decisions met when the sketches were drawn.
struct ModuleShare {
  std::string module;
  double points = 0.0;   // part of the space's points in whose making it has a hand, 0 to 1
  double choices = 0.0;  // part of what is to be decided that is decided in its instructions, in bits, 0 to 1
};

struct SpaceShares {
  double points = 0.0;               // of the whole space
  std::vector<ModuleShare> modules;  // of all that were asked, in the order of their first events
};

SpaceShares shares_of(const SketchSet& set);

}  // namespace tunesmith
#pragma GCC visibility pop
