// Finds the names of a device's levels and memories by their properties.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/stable/module.h"

namespace tunesmith {
inline namespace stable {

/// Threads are the innermost level, which must synchronise; blocks are the level around it.
struct ThreadPlaces {
  std::string blocks;   // axes for loops over blocks
  std::string threads;  // the thread axis whose iterations are neighbours
  std::string rows;     // another thread axis
  std::string shared;   // memory of a block
  std::string own;      // memory of a thread
  int64_t most = 0;     // maximum number of threads in a block
};

/// Nothing if the machine has no threads that share memory along two axes.
inline std::optional<ThreadPlaces> thread_places(const ExecutionModel& model) {
  const size_t first = model.first_synchronising();
  const size_t level = model.levels.size() - 1;
  if (first == 0 || first > level) return std::nullopt;
  if (model.levels[level].axes.size() < 2 || model.levels[first - 1].axes.empty()) return std::nullopt;
  const auto scope_at = [&](size_t depth) {
    const auto scope = std::ranges::find_if(
        model.scopes, [&](const MemoryScope& candidate) { return model.depth_of(candidate) == depth; });
    return scope == model.scopes.end() ? std::string() : scope->name;
  };
  const ThreadPlaces places{model.axis_name({first - 1, 0}), model.axis_name({level, 0}),
                            model.axis_name({level, 1}),     scope_at(first),
                            scope_at(model.levels.size()),   model.levels[level].max_together};
  if (places.shared.empty() || places.own.empty()) return std::nullopt;
  return places;
}

}  // namespace stable
}  // namespace tunesmith
