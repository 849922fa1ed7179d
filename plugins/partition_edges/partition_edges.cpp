// Partitions loops at ragged edges, so that all other tiles need no conditions.
// A ragged tile (of a `split` with excess) has a predicate, and a convolution
// that reads its padding in place has `select`s. Cuts the loop over such tiles
// where the condition begins or ceases to hold for a whole tile. If a single
// loop of the tile is inside the loop over the taps, cuts that one instead:
// each piece computes just the outputs that its taps reach.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/where_legal.h>

#include "linear_form.h"

namespace {

using namespace tunesmith;

constexpr int kMaxCuts = 32;        // per program
constexpr int64_t kMaxPieces = 16;  // per loop over taps
/// Iterations for each core that the largest piece of a nest's outermost loop must have.
constexpr int64_t kMinShare = 4;

/// A loop around a block.
struct EdgeLoop {
  int64_t extent = 1;
  bool reduction = false;
};

struct Range {
  int64_t min = 0;
  int64_t max = 0;
};

/// The range of the form while the loop `fixed` has the value `value`.
Range range_of(const LinearForm& form, const std::vector<EdgeLoop>& loops, size_t fixed, int64_t value) {
  Range range{form.constant, form.constant};
  for (size_t i = 0; i < loops.size(); ++i) {
    const int64_t coefficient = form.coefficients[i];
    const int64_t last = coefficient * (i == fixed ? value : loops[i].extent - 1);
    range.min += i == fixed ? last : std::min<int64_t>(0, last);
    range.max += i == fixed ? last : std::max<int64_t>(0, last);
  }
  return range;
}

struct Cut {
  size_t loop = 0;  // position among the enclosing loops
  std::vector<int64_t> points;
};

/// Makes one piece of the iterations for which the condition always holds: the first
/// or last ones, depending on whether the form decreases or increases with the loop.
std::optional<Cut> cut_at_whole_tiles(const LinearForm& form, const std::vector<EdgeLoop>& loops,
                                      size_t loop) {
  const bool rises = form.coefficients[loop] > 0;
  int64_t first = 0;  // first iteration of the second piece
  int64_t end = loops[loop].extent;
  while (first < end) {
    const int64_t middle = (first + end) / 2;
    const bool whole = range_of(form, loops, loop, middle).min >= 0;
    if (whole == rises) {
      end = middle;
    } else {
      first = middle + 1;
    }
  }
  if (first == 0 || first == loops[loop].extent) return std::nullopt;
  return Cut{loop, {first}};
}

/// Makes a piece of each iteration for which the condition holds only partly.
std::optional<Cut> cut_into_taps(const LinearForm& form, const std::vector<EdgeLoop>& loops, size_t loop) {
  enum class Holds { Never, Partly, Always };
  Cut cut{loop, {}};
  if (loops[loop].extent > kMaxPieces) return std::nullopt;
  std::optional<Holds> before;
  for (int64_t value = 0; value < loops[loop].extent; ++value) {
    const Range range = range_of(form, loops, loop, value);
    const Holds now = range.min >= 0 ? Holds::Always : range.max < 0 ? Holds::Never : Holds::Partly;
    if (before && (*before != now || now == Holds::Partly)) cut.points.push_back(value);
    before = now;
  }
  if (cut.points.empty()) return std::nullopt;
  return cut;
}

/// Positions of the loops that the form depends on.
std::vector<size_t> loops_in(const LinearForm& form, const std::vector<EdgeLoop>& loops, bool reduction) {
  std::vector<size_t> found;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (form.coefficients[i] != 0 && loops[i].extent > 1 && loops[i].reduction == reduction)
      found.push_back(i);
  }
  return found;
}

std::optional<Cut> cut_for_predicate(const LinearForm& form, const std::vector<EdgeLoop>& loops) {
  for (const bool reduction : {false, true}) {
    const std::vector<size_t> involved = loops_in(form, loops, reduction);
    if (involved.size() > 1) return cut_at_whole_tiles(form, loops, involved.front());
  }
  return std::nullopt;
}

std::optional<Cut> cut_for_select(const LinearForm& form, const std::vector<EdgeLoop>& loops) {
  const std::vector<size_t> spatial = loops_in(form, loops, false);
  if (spatial.size() > 1) return cut_at_whole_tiles(form, loops, spatial.front());
  const std::vector<size_t> taps = loops_in(form, loops, true);
  if (spatial.size() == 1 && taps.size() == 1 && taps.front() < spatial.front())
    return cut_into_taps(form, loops, taps.front());
  return std::nullopt;
}

/// Pieces of the outermost loop run in sequence, each on all cores:
/// with few iterations, idle cores would cost more than the condition.
bool leaves_cores_idle(const Cut& cut, const std::vector<EdgeLoop>& loops, int64_t cores) {
  for (size_t i = 0; i < cut.loop; ++i) {
    if (loops[i].extent > 1) return false;
  }
  int64_t largest = loops[cut.loop].extent - cut.points.back();
  int64_t begin = 0;
  for (const int64_t point : cut.points) {
    largest = std::max(largest, point - begin);
    begin = point;
  }
  return largest < kMinShare * cores;
}

class PartitionEdges final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const auto cores = static_cast<int64_t>(context.device().get("cores"));
    Refusals refused;
    int cuts = 0;
    while (cuts < kMaxCuts && cut_somewhere(schedule, cores, refused)) ++cuts;
    if (cuts == 0) return ModuleResult::not_applicable("no tile hangs over an edge");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  using Refusals = std::set<std::tuple<std::string, size_t, std::vector<int64_t>>>;

  /// Returns whether a loop was cut.
  static bool cut_somewhere(Schedule& schedule, int64_t cores, Refusals& refused) {
    const Program program = schedule.program();
    for (const Pointer<Block>& block : program.blocks()) {
      if (enclosing_block(*block) != nullptr) continue;
      for (const Cut& cut : cuts_of(*block, cores)) {
        if (refused.contains({block->name, cut.loop, cut.points})) continue;
        if (carry_out(schedule, block->name, cut)) return true;
        refused.insert({block->name, cut.loop, cut.points});
      }
    }
    return false;
  }

  static std::vector<Cut> cuts_of(const Block& block, int64_t cores) {
    const LoopConditions conditions(block);
    const std::vector<LinearForm> predicate = conditions.of_predicate();
    const std::vector<LinearForm> selects = conditions.of_selects();
    if (predicate.empty() && selects.empty()) return {};
    std::vector<EdgeLoop> loops;
    for (const Pointer<Loop>& loop : conditions.loops())
      loops.push_back({loop->const_extent(), use_of(*loop, block).reduction});
    std::vector<Cut> cuts;
    for (const LinearForm& form : predicate) {
      if (const auto cut = cut_for_predicate(form, loops)) cuts.push_back(*cut);
    }
    for (const LinearForm& form : selects) {
      const auto cut = cut_for_select(form, loops);
      if (cut && !leaves_cores_idle(*cut, loops, cores)) cuts.push_back(*cut);
    }
    return cuts;
  }

  /// If refused, the tiles keep their conditions.
  static bool carry_out(Schedule& schedule, const std::string& block, const Cut& cut) {
    const LoopRV loop = schedule.get_loops(schedule.get_block(block)).at(cut.loop);
    return where_legal(schedule, [&](Schedule& tried) {
      tried.loop_partition(loop, {cut.points.begin(), cut.points.end()});
    });
  }
};

}  // namespace

TUNESMITH_PLUGIN(PartitionEdges, PluginKind::Module, "partition_edges", "0.1.0",
                 "finishing: tiles that hang over an edge become pieces of their own");
