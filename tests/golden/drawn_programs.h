// Programs drawn from the built-in spaces for machines with a fixed description, the same on every machine.
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
  const char* processor;  // LLVM's name; "": the space's own
  int programs;           // the maximum for each workload
};

std::span<const Machine> machines();

SpaceSpec space_of(const Machine& machine);

/// The space for the described machine. Throws EnvironmentError if this machine lacks what the space needs.
std::unique_ptr<Space> make_space(const Machine& machine, SpaceSpec spec, PluginRegistry& registry);

/// Adds the hashes of programs drawn for each wanted workload, and the versions of lowering and generators.
/// Returns "", or what this machine lacks.
std::string draw(const Machine& machine, PluginRegistry& registry, const std::function<bool()>& is_wanted,
                 Corpus& corpus);

}  // namespace tunesmith::golden
