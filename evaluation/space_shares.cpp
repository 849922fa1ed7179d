#include "tunesmith/evaluation/space_shares.h"

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

/// The bits of the decisions in a sketch: in total, and in each step.
struct Bits {
  double all = 0.0;
  std::vector<double> steps;
};

Bits bits_of(const Schedule& sketch, const std::vector<SketchStep>& steps) {
  Bits bits;
  bits.steps.resize(steps.size());
  for (const SamplingPoint& point : sketch.sampling_points()) {
    const double here = std::log2(static_cast<double>(point.kind->count(point.domain)));
    bits.all += here;
    for (size_t i = 0; i < steps.size(); ++i) {
      if (point.position >= steps[i].begin && point.position < steps[i].end) bits.steps[i] += here;
    }
  }
  return bits;
}

}  // namespace

SpaceShares shares_of(const SketchSet& set) {
  SpaceShares shares;
  for (const ModuleEvent& event : set.events) {
    const bool known = std::ranges::any_of(
        shares.modules, [&](const ModuleShare& share) { return share.module == event.module; });
    if (!known) shares.modules.push_back({event.module, 0.0, 0.0});
  }
  double all_bits = 0.0;
  for (size_t i = 0; i < set.sketches.size(); ++i) {
    const std::vector<SketchStep>& steps = set.steps[i];
    const Bits bits = bits_of(set.sketches[i], steps);
    const double points = std::exp2(bits.all);
    shares.points += points;
    all_bits += points * bits.all;
    for (ModuleShare& share : shares.modules) {
      bool here = false;
      for (size_t step = 0; step < steps.size(); ++step) {
        if (steps[step].module != share.module) continue;
        here = true;
        share.choices += points * bits.steps[step];
      }
      if (here) share.points += points;
    }
  }
  for (ModuleShare& share : shares.modules) {
    share.points /= shares.points;
    share.choices = all_bits > 0.0 ? share.choices / all_bits : 0.0;
  }
  return shares;
}

}  // namespace tunesmith
