#include "thread_tiling.h"

#include <algorithm>

#include <tunesmith/tiling/sampled_tiles.h>

#include "tiles.h"

namespace tunesmith {
namespace {

using Bound = ThreadTiling::Bound;

/// An unbound tile: one thread computes its iterations, which are strided.
constexpr const char* kUnbound = "vthread";
constexpr int64_t kWidestFetchBytes = 16;

/// For each dimension of the access, the position of the loop that is its
/// index; nothing for a constant index. Empty if an index is anything else.
std::vector<std::optional<size_t>> loops_of_dimensions(const Block& block, const Access& access) {
  const std::vector<Pointer<Loop>> loops = loops_above(block);
  const std::vector<IterVar> iters = block.iters();
  std::vector<std::optional<size_t>> found;
  for (const AccessIndex& index : access.indices) {
    if (!index.iterator && !index.constant) return {};
    std::optional<size_t> position;
    for (size_t i = 0; i < loops.size() && index.iterator; ++i) {
      const Expr binding = iters[*index.iterator].binding;
      if (binding.is(ExprKind::Var) && binding.var() == loops[i]->var()) position = i;
    }
    found.push_back(position);
  }
  return found;
}

/// The loops of `writer` over the elements of the spatial loops of
/// `block`, in order; nothing if they do not correspond one to one.
std::optional<std::vector<size_t>> loops_of_writer(const Block& block, const Block& writer) {
  const Access made = writes_of(block).front();
  std::vector<Access> reads = read_accesses(writer);
  std::erase_if(reads, [&](const Access& read) { return read.buffer->name != made.buffer->name; });
  if (reads.size() != 1 || !is_trivially_bound(writer)) return std::nullopt;
  const auto own = loops_of_dimensions(block, made);
  const auto theirs = loops_of_dimensions(writer, reads.front());
  if (own.empty() || own.size() != theirs.size()) return std::nullopt;
  const std::vector<Pointer<Loop>> loops = loops_above(block);
  std::vector<size_t> positions;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (use_of(*loops[i]).reduction) continue;
    const auto dimension = std::ranges::find(own, std::optional<size_t>(i));
    if (dimension == own.end()) return std::nullopt;
    const std::optional<size_t> other = theirs[static_cast<size_t>(dimension - own.begin())];
    if (!other) return std::nullopt;
    positions.push_back(*other);
  }
  if (positions.size() != loops_above(writer).size()) return std::nullopt;
  return positions;
}

LoopRV fused(Schedule& schedule, const std::vector<LoopRV>& loops) {
  return loops.size() == 1 ? loops.front() : schedule.fuse(loops);
}

bool contains(const std::vector<Bound>& bounds, Bound wanted) {
  return std::ranges::find(bounds, wanted) != bounds.end();
}

void append(std::vector<LoopRV>& all, const std::vector<LoopRV>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

ThreadTiling::ThreadTiling(const Options& options)
    : structure_(options.get_string("structure")),
      max_innermost_(options.get_int("max_innermost")),
      tile_binds_(options.get_strings("tile_binds")),
      result_scope_(options.get_string("cache_scope")),
      fetch_scope_(options.get_string("fetch_scope")),
      fetch_widths_(options.get_ints("fetch_widths")) {}

std::optional<ThreadTiling> ThreadTiling::from(const Options& options) {
  ThreadTiling tiling(options);
  if (tiling.tile_binds_.empty()) return std::nullopt;
  if (tiling.structure_.find('R') != tiling.tile_binds_.size())
    options.fail("tile_binds", "expected one for each S before the first R of 'structure'");
  if (std::count(tiling.structure_.begin(), tiling.structure_.end(), 'S') ==
      static_cast<int64_t>(tiling.tile_binds_.size()))
    options.fail("structure", "expected an S that no level is bound to, after the first R");
  for (const char* other : {"write_reuse", "without_reuse", "read_reuse", "row_tiles", "column_tiles"}) {
    if (options.is_set(other)) options.fail(other, "not together with tile_binds");
  }
  if (tiling.fetch_widths_.empty()) options.fail("fetch_widths", "expected at least one number of elements");
  return tiling;
}

ModuleResult ThreadTiling::apply(const Schedule& schedule, const std::string& block_name,
                                 ModuleContext& context) const {
  const ExecutionModel& model = context.execution();
  std::vector<Bound> bounds;
  for (const std::string& name : tile_binds_) {
    const auto axis = model.find_axis(name);
    if (!axis && name != kUnbound) return ModuleResult::not_applicable("the target has no such axis");
    bounds.push_back(!axis                                       ? Bound::Nothing
                     : axis->level < model.first_synchronising() ? Bound::Apart
                                                                 : Bound::Together);
  }
  if (!contains(bounds, Bound::Apart) || !contains(bounds, Bound::Together))
    return ModuleResult::not_applicable("no tile is bound to threads, or none to what stands around them");
  const Program program = schedule.program();
  if (has_reusable_consumer(program, *program.find_block(block_name))) {
    try {
      return ModuleResult::applied(sketch(schedule, block_name, true, bounds));
    } catch (const ScheduleError&) {  // NOLINT(bugprone-empty-catch): a copy takes its place
    }
  }
  return ModuleResult::applied(sketch(schedule, block_name, false, bounds));
}

ModuleDescription ThreadTiling::description() const {
  ModuleDescription description{.makes = {"tile_iterations", "apart"}, .partners = {"verify_limits"}};
  if (!fetch_scope_.empty()) {
    description.makes.emplace_back("cooperative_fetch");
    description.partners.emplace_back("cooperative_fetch");
  }
  return description;
}

Schedule ThreadTiling::sketch(const Schedule& base, const std::string& block_name, bool through_consumer,
                              const std::vector<Bound>& bounds) const {
  Schedule schedule = base.clone();
  const BlockRV block = schedule.get_block(block_name);
  BlockRV writer;
  if (through_consumer) {
    schedule.set_scope(block, 0, result_scope_);
    writer = schedule.get_consumers(block).front();
  } else {
    writer = schedule.cache_write(block, 0, result_scope_);
  }
  const auto order = loops_of_writer(schedule.block(block), schedule.block(writer));
  if (!order)
    throw ScheduleError("multi_level_tiling", "the result is not indexed by the block's spatial loops",
                        block_name);
  std::vector<LoopRV> writer_loops;
  const std::vector<LoopRV> around = schedule.get_loops(writer);
  for (const size_t position : *order) writer_loops.push_back(around[position]);

  const std::vector<BlockRV> copies = fetches(schedule, block);
  const Tiles tiles = cut(schedule, block);
  arrange(schedule, tiles, bounds);
  const std::vector<std::vector<LoopRV>> written = tile_writer(schedule, writer_loops, tiles, bounds);
  for (size_t i = bounds.size(); i-- > 0;) {
    if (bounds[i] != Bound::Apart) continue;
    schedule.merge({tiles.levels[i].back(), written[i].back()});
    break;
  }
  // For verify_limits, when a candidate is finished.
  schedule.annotate(block, "tile_iterations", iteration_count(schedule.block(block)).spatial);
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == Bound::Nothing) {
      for (const LoopRV& loop : tiles.levels[i]) schedule.annotate(loop, "apart", int64_t{1});
      continue;
    }
    schedule.bind(fused(schedule, tiles.levels[i]), tile_binds_[i]);
    if (bounds[i] == Bound::Together) schedule.bind(fused(schedule, written[i]), tile_binds_[i]);
  }
  for (const BlockRV& copy : copies) schedule.compute_at(copy, tiles.levels[structure_.find('R')].back());
  return schedule;
}

std::vector<BlockRV> ThreadTiling::fetches(Schedule& schedule, BlockRV block) const {
  std::vector<BlockRV> copies;
  if (fetch_scope_.empty()) return copies;
  const std::vector<Access> reads = schedule.read_accesses(block);
  for (size_t i = 0; i < reads.size(); ++i) {
    copies.push_back(schedule.cache_read(block, static_cast<int>(i), fetch_scope_));
    std::vector<int64_t> widths = fetch_widths_;
    std::erase_if(widths, [&](int64_t width) {
      return width > 1 && width * reads[i].buffer->dtype.bytes() > kWidestFetchBytes;
    });
    if (widths.empty()) widths.push_back(1);
    schedule.annotate(copies.back(), "cooperative_fetch", sample_one_of(schedule, widths));
  }
  return copies;
}

ThreadTiling::Tiles ThreadTiling::cut(Schedule& schedule, BlockRV block) const {
  Tiles tiles{std::vector<std::vector<LoopRV>>(structure_.size()), {}};
  const auto parts_of = [&](char letter) {
    return static_cast<int>(std::count(structure_.begin(), structure_.end(), letter));
  };
  for (const LoopRV& loop : schedule.get_loops(block)) {
    const char letter = schedule.facts(loop).use.reduction ? 'R' : 'S';
    std::vector<LoopRV> parts;
    if (letter == 'S') {
      const SampledTiles sampled = sample_tiles(schedule, loop, parts_of('S'), max_innermost_);
      tiles.spatial_factors.push_back(sampled.factors);
      parts = sampled.loops;
    } else {
      parts = perfect_tiles(schedule, loop, parts_of('R'), max_innermost_);
    }
    size_t next = 0;
    for (size_t level = 0; level < structure_.size(); ++level) {
      if (structure_[level] == letter) tiles.levels[level].push_back(parts[next++]);
    }
  }
  return tiles;
}

/// Threads are inside the outermost reduction tile, beside the statements that fetch
/// its operands; a thread's strided iterations are inside the next reduction tile.
void ThreadTiling::arrange(Schedule& schedule, const Tiles& tiles, const std::vector<Bound>& bounds) const {
  std::vector<LoopRV> order;
  const auto append_bound = [&](Bound wanted) {
    for (size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i] == wanted) append(order, tiles.levels[i]);
    }
  };
  append_bound(Bound::Apart);
  append(order, tiles.levels[bounds.size()]);
  append_bound(Bound::Together);
  const size_t own = structure_.find('S', bounds.size());
  for (size_t level = bounds.size() + 1; level < structure_.size(); ++level) {
    if (level == own) append_bound(Bound::Nothing);
    append(order, tiles.levels[level]);
  }
  schedule.reorder(order);
}

std::vector<std::vector<LoopRV>> ThreadTiling::tile_writer(Schedule& schedule,
                                                           const std::vector<LoopRV>& loops,
                                                           const Tiles& tiles,
                                                           const std::vector<Bound>& bounds) const {
  std::vector<std::vector<LoopRV>> levels(bounds.size());
  std::vector<LoopRV> inside;
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::vector<IntRV>& factors = tiles.spatial_factors[i];
    std::vector<std::optional<IntArg>> outer(factors.begin(),
                                             factors.begin() + static_cast<std::ptrdiff_t>(bounds.size()));
    outer.emplace_back(std::nullopt);
    const std::vector<LoopRV> parts = schedule.split(loops[i], outer);
    for (size_t level = 0; level < bounds.size(); ++level) levels[level].push_back(parts[level]);
    inside.push_back(parts.back());
  }
  std::vector<LoopRV> order;
  for (const Bound wanted : {Bound::Apart, Bound::Together, Bound::Nothing}) {
    for (size_t level = 0; level < bounds.size(); ++level) {
      if (bounds[level] == wanted) append(order, levels[level]);
    }
  }
  append(order, inside);
  schedule.reorder(order);
  return levels;
}

}  // namespace tunesmith
