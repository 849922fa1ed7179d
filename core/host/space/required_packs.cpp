#include "space/required_packs.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/space/space.h"

namespace tunesmith {

std::vector<std::string> missing_packs(const SpaceSpec& spec, const PluginRegistry& registry) {
  const std::vector<std::string> here = registry.packs();
  std::vector<std::string> missing;
  for (const PackUse& pack : spec.packs) {
    if (!std::ranges::binary_search(here, pack.id)) missing.push_back(pack.id);
  }
  return missing;
}

void require_packs(const SpaceSpec& spec, const PluginRegistry& registry) {
  const std::vector<std::string> missing = missing_packs(spec, registry);
  if (missing.empty()) return;
  const auto first = std::ranges::find(spec.packs, missing.front(), &PackUse::id);
  const std::string near = nearest_name(first->id, registry.packs());
  throw EnvironmentError(
      fmt::format("{}: space '{}' requires the pack{} '{}', which {} not installed; {}{}; remedy: put {} "
                  "into one of these folders, or name {} with --plugin-path",
                  first->location.str(), spec.name, missing.size() == 1 ? "" : "s",
                  fmt::join(missing, "' and '"), missing.size() == 1 ? "is" : "are",
                  near.empty() ? "" : fmt::format("did you mean '{}'?; ", near), registry.places_looked_at(),
                  missing.size() == 1 ? "it" : "them", missing.size() == 1 ? "its folder" : "theirs"));
}

}  // namespace tunesmith
