#include "cache_traffic.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>

#include "other_cores.h"

namespace tunesmith::features {
namespace {

struct Cache {
  double capacity;
  double way;    // in bytes; 0: unknown
  bool of_core;  // private to a core, or shared
  double Access::* traffic;
  double Access::* runs;
};

/// The bytes accessed by the loops from `from` inwards, in whole lines.
double bytes_taken(const StoreFacts& facts, const Access& access, size_t from) {
  if (access.in_register) return 0.0;
  return std::max(access.bytes_inside[from], access.lines_inside[from] * facts.machine.line_bytes);
}

/// bytes_taken() plus the cache sets that large steps skip, since these accesses cannot use them.
double bytes_occupied(const StoreFacts& facts, const Access& access, size_t from, double way) {
  const double taken = bytes_taken(facts, access, from);
  if (taken == 0.0 || way <= 0.0 || access.runs_inside[from] <= 1.0) return taken;
  const auto step = static_cast<double>(
      std::gcd(static_cast<int64_t>(access.step_inside[from]), static_cast<int64_t>(way)));
  return std::max(taken, access.runs_inside[from] * step);
}

/// Data of loops that fit the cache is loaded once per iteration of the loops around those.
void add_traffic(StoreFacts& facts, const Cache& cache) {
  size_t fits = facts.levels.size();
  for (size_t from = facts.levels.size() + 1; from-- > 0;) {
    double total = 0.0;
    for (const Access& access : facts.accesses) total += bytes_occupied(facts, access, from, cache.way);
    if (total > cache.capacity) break;
    fits = from;
  }
  for (Access& access : facts.accesses) {
    if (access.in_register) continue;
    double repeats = 1.0;
    bool moved = false;  // data is reused across loops that do not move the access, if no inner one moves it
    for (size_t i = fits; i-- > 0;) {
      moved = moved || access.motion[i].moves;
      if (moved) repeats *= facts.levels[i].trips;
    }
    access.*cache.traffic = bytes_taken(facts, access, fits) * repeats;
    access.*cache.runs = access.runs_inside[fits] * repeats;
  }
}

/// The number of loops around both.
size_t common_levels(const StoreFacts& a, const StoreFacts& b) {
  const auto same = [](const Level& x, const Level& y) { return x.loop == y.loop; };
  return static_cast<size_t>(std::ranges::mismatch(a.levels, b.levels, same).in1 - a.levels.begin());
}

const Access* access_of(const StoreFacts& facts, const Buffer& buffer) {
  const auto found = std::ranges::find(facts.accesses, buffer, &Access::buffer);
  return found == facts.accesses.end() ? nullptr : &*found;
}

/// Does one core execute all iterations of the loops from `from` inwards? True inside a parallel loop,
/// regardless of nested ones.
bool on_one_core(const StoreFacts& facts, size_t from) {
  const auto parallel = [](const Level& level) { return level.loop->loop_kind == LoopKind::Parallel; };
  const auto within = facts.levels.begin() + static_cast<std::ptrdiff_t>(from);
  return std::any_of(facts.levels.begin(), within, parallel) ||
         std::none_of(within, facts.levels.end(), parallel);
}

/// The last statement that touched the same buffer.
struct Earlier {
  const StoreFacts* statement;
  const Access* access;
  size_t common;       // loops around both statements
  double other_cores;  // share of the access that another core accessed there
};

std::optional<Earlier> last_to_touch(const StoreFacts& facts, const Access& access,
                                     std::span<const StoreFacts> earlier) {
  for (const StoreFacts& before : std::views::reverse(earlier)) {
    const Access* touched = access_of(before, access.buffer);
    if (touched == nullptr) continue;
    const size_t common = common_levels(before, facts);
    const bool one_core = on_one_core(before, common) && on_one_core(facts, common);
    return Earlier{&before, touched, common,
                   one_core ? 0.0 : share_of_other_cores(before, *touched, facts, access)};
  }
  return std::nullopt;
}

/// The bytes per core if the loops from `from` inwards are distributed.
double bytes_of_a_core(const StoreFacts& facts, const Access& access, size_t from) {
  const double taken = bytes_taken(facts, access, from);
  for (size_t i = from; i < facts.levels.size(); ++i) {
    if (facts.is(i, LoopKind::Parallel) && access.motion[i].moves)
      return taken / std::clamp(facts.machine.cores, 1.0, std::max(1.0, access.motion[i].places));
  }
  return taken;
}

/// Subtracts the data that the last statement with the same buffer left in the cache, if all accesses since
/// then, in one iteration of the common loops, fit.
void take_back(const StoreFacts& facts, Access& access, const Earlier& before,
               std::span<const StoreFacts> earlier, const Cache& cache) {
  if (access.*cache.traffic == 0.0) return;
  const auto touched_by = [&](const StoreFacts& one, const Access& other) {
    return cache.of_core ? bytes_of_a_core(one, other, before.common)
                         : bytes_taken(one, other, before.common);
  };
  double touched = 0.0;
  for (const Access& other : facts.accesses) touched += touched_by(facts, other);
  for (const StoreFacts& one : std::views::reverse(earlier)) {
    for (const Access& other : one.accesses) {
      if (access_of(facts, other.buffer) == nullptr) touched += touched_by(one, other);
    }
    if (&one == before.statement) break;
  }
  if (touched > cache.capacity) return;
  const double here = cache.of_core ? 1.0 - before.other_cores : 1.0;
  const double left = here * bytes_taken(*before.statement, *before.access, before.common);
  const double new_share = std::max(0.0, 1.0 - left / bytes_taken(facts, access, before.common));
  access.*cache.traffic *= new_share;
  access.*cache.runs *= new_share;
}

}  // namespace

void measure_traffic(StoreFacts& facts, std::span<const StoreFacts> earlier) {
  const Machine& machine = facts.machine;
  const Cache caches[] = {
      {machine.l1_bytes, machine.l1_way_bytes, true, &Access::l1_traffic, &Access::l1_runs},
      {machine.l2_bytes, machine.l2_way_bytes, true, &Access::l2_traffic, &Access::l2_runs},
      {machine.l3_bytes, 0.0, false, &Access::l3_traffic, &Access::l3_runs},
  };
  for (const Cache& cache : caches) {
    if (cache.capacity > 0.0) add_traffic(facts, cache);
  }
  for (Access& access : facts.accesses) {
    if (access.in_register) continue;
    const std::optional<Earlier> before = last_to_touch(facts, access, earlier);
    if (!before) continue;
    for (const Cache& cache : caches) {
      if (cache.capacity > 0.0) take_back(facts, access, *before, earlier, cache);
    }
    if (!before->access->writes) continue;
    double times = 1.0;
    for (size_t i = 0; i < before->common; ++i) times *= facts.levels[i].trips;
    access.other_core_traffic = before->other_cores * bytes_taken(facts, access, before->common) * times;
  }
}

}  // namespace tunesmith::features
