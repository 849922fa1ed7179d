// Programs that the built-in spaces draw for machines of a fixed description, wherever the test runs.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "golden/corpus.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"

namespace tunesmith::golden {

struct Machine {
  const char* target;
  const char* space;
  const char* processor;  // as LLVM calls it; "": as the space says
  int programs;           // of each workload, at most
};

std::span<const Machine> machines();

SpaceSpec space_of(const Machine& machine);

/// The space on the machine of the fixed description. Throws EnvironmentError where this machine lacks what
/// it needs.
std::unique_ptr<Space> make_space(const Machine& machine, SpaceSpec spec, PluginRegistry& registry);

/// Adds the hashes of what is drawn, with the versions of what made them, of each workload for which
/// `is_wanted` answers so. Returns what this machine lacks to do it, or "".
std::string draw(const Machine& machine, PluginRegistry& registry, const std::function<bool()>& is_wanted,
                 Corpus& corpus);

}  // namespace tunesmith::golden
