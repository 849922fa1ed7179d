#include "tunesmith/performance/lockstep_access.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "lockstep_threads.h"
#include "tunesmith/performance/vector_access.h"

namespace tunesmith {
namespace {

/// The number of groups that are sampled, spread over the block.
constexpr int64_t kGroups = 8;

/// The statements around a statement, outermost first.
std::vector<const Stmt*> path_to(const Stmt& stmt) {
  std::vector<const Stmt*> path;
  for (const Stmt* at = &stmt; at != nullptr; at = at->parent) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

enum class Reach : uint8_t { Made, LeftOut, Unknown };

/// Extends the thread's point by the first iterations of the other loops; returns whether it reaches the
/// statement.
Reach reach(std::span<const Stmt* const> path, const LockstepThreads& threads, Point& point) {
  for (size_t i = 0; i < path.size(); ++i) {
    if (const auto* loop = path[i]->as<Loop>()) {
      if (threads.binds(loop->var)) continue;
      const std::optional<int64_t> first = value_at(point, loop->min);
      const std::optional<int64_t> extent = value_at(point, loop->extent);
      if (!first || !extent) return Reach::Unknown;
      if (*extent < 1) return Reach::LeftOut;
      point.emplace_back(loop->var, *first);
    } else if (const auto* branch = path[i]->as<If>(); branch != nullptr && i + 1 < path.size()) {
      const std::optional<int64_t> holds = value_at(point, branch->condition);
      if (!holds) return Reach::Unknown;
      if ((*holds != 0) != (path[i + 1] == branch->then_case())) return Reach::LeftOut;
    }
  }
  return Reach::Made;
}

int64_t distinct(std::vector<int64_t>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
  return static_cast<int64_t>(values.size());
}

/// The pieces of `size` bytes that contain the accesses of `bytes` bytes.
std::vector<int64_t> pieces(std::span<const int64_t> addresses, int64_t bytes, int64_t size) {
  std::vector<int64_t> found;
  for (const int64_t address : addresses) {
    for (int64_t piece = address / size; piece <= (address + bytes - 1) / size; ++piece)
      found.push_back(piece);
  }
  distinct(found);
  return found;
}

/// `threads`: the addresses of each thread.
double wavefronts_of(const std::vector<std::vector<int64_t>>& threads, int64_t element_bytes,
                     const MemoryScope& scope) {
  if (scope.banks == 0 || threads.empty()) return 0.0;
  const auto asked = static_cast<int64_t>(threads.front().size()) * element_bytes;
  const int64_t at_once =
      std::max<int64_t>(1, scope.banks * scope.bank_bytes / std::max(asked, scope.bank_bytes));
  double wavefronts = 0.0;
  for (size_t begin = 0; begin < threads.size(); begin += static_cast<size_t>(at_once)) {
    std::vector<int64_t> addresses;
    const size_t end = std::min(threads.size(), begin + static_cast<size_t>(at_once));
    for (size_t i = begin; i < end; ++i)
      addresses.insert(addresses.end(), threads[i].begin(), threads[i].end());
    std::map<int64_t, int64_t> words;  // for each bank
    int64_t most = 0;
    for (const int64_t word : pieces(addresses, element_bytes, scope.bank_bytes))
      most = std::max(most, ++words[word % scope.banks]);
    wavefronts += static_cast<double>(most);
  }
  return wavefronts;
}

}  // namespace

std::optional<LockstepAccess> lockstep_access(const Stmt& stmt, const AccessSite& access,
                                              const LockstepMachine& machine) {
  const std::vector<const Stmt*> path = path_to(stmt);
  const LockstepThreads threads(stmt, *machine.execution);
  const Expr& index = access.indices[0];
  const auto* store = stmt.as<Store>();
  const Expr mask = access.load != nullptr ? access.load->mask() : store != nullptr ? store->mask : Expr();
  const int64_t element = access.buffer->dtype.bytes();
  const MemoryScope* scope = machine.execution->find_scope(access.buffer->scope);
  const int64_t groups = (threads.count() + machine.width - 1) / machine.width;
  const int64_t looked_at = std::min(groups, kGroups);
  const int lanes = index.dtype().lanes;
  const bool together = is_one_access(stmt, access, *machine.execution, machine.access_bytes);

  LockstepAccess mean;
  mean.instructions = together ? 1 : lanes;
  for (int64_t g = 0; g < looked_at; ++g) {
    const int64_t first = g * groups / looked_at * machine.width;
    // For each instruction, the addresses of each participating thread.
    std::vector<std::vector<std::vector<int64_t>>> instructions(static_cast<size_t>(mean.instructions));
    std::vector<int64_t> all;
    for (int64_t t = first; t < std::min(first + machine.width, threads.count()); ++t) {
      Point point = threads.point_of(t);
      const Reach reached = reach(path, threads, point);
      if (reached == Reach::Unknown) return std::nullopt;
      if (reached == Reach::LeftOut) continue;
      bool takes_part = false;
      for (int lane = 0; lane < lanes; ++lane) {
        const std::optional<int64_t> taken = mask ? value_at(point, mask, lane) : 1;
        const std::optional<int64_t> at = value_at(point, index, lane);
        if (!taken || !at) return std::nullopt;
        if (*taken == 0) continue;
        auto& instruction = instructions[together ? 0 : static_cast<size_t>(lane)];
        if (!together || !takes_part) instruction.emplace_back();
        const int64_t address = access.buffer->swizzle.place_of(*at) * element;
        instruction.back().push_back(address);
        all.push_back(address);
        takes_part = true;
      }
      if (takes_part) mean.threads += 1.0;
    }
    mean.bytes += static_cast<double>(distinct(all) * element);
    for (const std::vector<std::vector<int64_t>>& addresses : instructions) {
      std::vector<int64_t> asked;
      for (const std::vector<int64_t>& own : addresses) asked.insert(asked.end(), own.begin(), own.end());
      mean.sectors += static_cast<double>(pieces(asked, element, machine.sector_bytes).size());
      if (scope != nullptr) mean.wavefronts += wavefronts_of(addresses, element, *scope);
    }
  }
  const auto count = static_cast<double>(looked_at);
  mean.threads /= count;
  mean.bytes /= count;
  mean.sectors /= count;
  mean.wavefronts /= count;
  return mean;
}

}  // namespace tunesmith
