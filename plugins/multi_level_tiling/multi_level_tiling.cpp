// Multi-level tiling (MetaSchedule, figure 5; Ansor's "multi-level tiling with fusion").
//
// Splits every spatial iterator into one tile per S of `structure`, and every reduction iterator into one per
// R, and orders the tiles by `structure`. Each entry of `write_reuse` adds a sketch whose result is
// accumulated in a cache and written at that spatial level (1: the outermost S). With `tile_binds`, tiles are
// bound to threads instead (thread_tiling.h).
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/index_map.h>
#include <tunesmith/tiling/sampled_tiles.h>

#include "thread_tiling.h"
#include "tiles.h"

namespace {

using namespace tunesmith;

class MultiLevelTiling final : public TransformationModule {
 public:
  explicit MultiLevelTiling(const Options& options)
      : structure_(options.get_string("structure")),
        max_innermost_(options.get_int("max_innermost")),
        write_reuse_(options.get_ints("write_reuse")),
        without_reuse_(options.get_bool("without_reuse")),
        read_reuse_(options.get_ints("read_reuse")),
        row_tiles_(options.get_ints("row_tiles")),
        column_tiles_(options.get_ints("column_tiles")),
        also_perfect_(options.get_bool("also_perfect")),
        cache_scope_(options.get_string("cache_scope")) {
    if (structure_.empty() || structure_.find_first_not_of("SR") != std::string::npos) {
      options.fail("structure", "expected a string of S (spatial) and R (reduction), as SSRSRS");
    }
    if (structure_.front() != 'S')
      options.fail("structure", "expected S first: a reduction cannot stand outermost");
    for (const char letter : {'S', 'R'}) {
      const auto parts = std::count(structure_.begin(), structure_.end(), letter);
      if (parts < 1 || parts > kMaxParts)
        options.fail("structure", "expected S and R, 1 to " + std::to_string(kMaxParts) + " times each");
    }
    threads_ = ThreadTiling::from(options);
    if (threads_) return;
    const int64_t levels = std::count(structure_.begin(), structure_.end(), 'S');
    for (const char* name : {"write_reuse", "read_reuse"}) {
      for (const int64_t level : options.get_ints(name)) {
        if (level >= 1 && level < levels) continue;
        options.fail(name, "expected levels from 1 to " + std::to_string(levels - 1) + " for this structure");
      }
    }
    if (row_tiles_.empty() != column_tiles_.empty())
      options.fail("column_tiles", "expected together with row_tiles, or neither");
    if (!row_tiles_.empty() && structure_.find('S', structure_.find('R')) == std::string::npos)
      options.fail("row_tiles", "expected a structure with S behind its first R, where the tiles stand");
    if (also_perfect_ && row_tiles_.empty())
      options.fail("also_perfect", "without row_tiles all tiles are perfect ones");
    if (write_reuse_.empty() && !without_reuse_)
      options.fail("without_reuse", "no sketch is left: write_reuse is empty");
  }

  ModuleDescription description() const override {
    return threads_ ? threads_->description() : ModuleDescription();
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block block = *schedule.program().find_block(block_name);
    if (!needs_tiling(block))
      return ModuleResult::not_applicable("the block is no reduction that reuses what it reads");
    if (threads_) return threads_->apply(schedule, block_name, context);
    std::vector<Schedule> sketches;
    std::vector<int64_t> write_levels = write_reuse_;
    if (without_reuse_) write_levels.insert(write_levels.begin(), kNone);
    const auto add_perfect = [&] {
      for (const int64_t write_level : write_levels)
        sketches.push_back(sketch(schedule, block_name, write_level, kNone, false));
    };
    if (also_perfect_ && !is_outer_product(block) && has_small_tiles(block)) {
      add_perfect();
      return ModuleResult::applied(std::move(sketches));
    }
    std::vector<int64_t> read_levels = read_reuse_;
    read_levels.insert(read_levels.begin(), kNone);
    for (const int64_t read_level : read_levels) {
      if (read_level != kNone && reused_reads(block).empty()) continue;
      for (const int64_t write_level : write_levels) {
        sketches.push_back(sketch(schedule, block_name, write_level, read_level, !row_tiles_.empty()));
      }
    }
    if (also_perfect_) add_perfect();
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  using Levels = std::vector<std::vector<LoopRV>>;  // one list of loops for each letter of the structure
  static constexpr int64_t kNone = 0;
  static constexpr std::ptrdiff_t kMaxParts = 16;  // per loop

  Schedule sketch(const Schedule& base, const std::string& block_name, int64_t write_level,
                  int64_t read_level, bool ragged) const {
    Schedule schedule = base.clone();
    const BlockRV block = schedule.get_block(block_name);
    std::optional<BlockRV> writer;
    if (write_level != kNone) {
      writer = has_reusable_consumer(schedule.program(), schedule.block(block))
                   ? schedule.get_consumers(block).front()
                   : schedule.cache_write(block, 0, cache_scope_);
    }
    std::vector<BlockRV> readers;
    if (read_level != kNone) {
      for (const ReusedRead& read : reused_reads(schedule.block(block))) {
        readers.push_back(read.order.empty()
                              ? schedule.cache_read(block, read.index, cache_scope_)
                              : schedule.reindex_cache_read(block, read.index, cache_scope_, read.order));
      }
    }
    const Levels levels = tile(schedule, block, ragged);
    if (writer) schedule.reverse_compute_at(*writer, innermost_of(levels, write_level));
    for (const BlockRV& reader : readers) schedule.compute_at(reader, innermost_of(levels, read_level));
    return schedule;
  }

  /// Is a read invariant along the last spatial iterator, so that a row
  /// of a tile reuses it? `row_tiles` are for such blocks; a depthwise
  /// convolution has no such read, and is faster with smaller tiles.
  static bool is_outer_product(const Block& block) {
    const std::optional<size_t> last = last_spatial(block.iters());
    return !last ||
           std::ranges::any_of(read_accesses(block), [&](const Access& read) { return !read.uses(*last); });
  }

  /// Do small tiles divide each spatial iterator?
  bool has_small_tiles(const Block& block) const {
    const int64_t most = std::ranges::max(row_tiles_);
    return std::ranges::all_of(block.iters(), [&](const IterVar& iter) {
      if (iter.kind != IterKind::Spatial || iter.extent <= most) return true;
      int64_t tile = 2;
      while (tile <= most && iter.extent % tile != 0) ++tile;
      return tile <= most;
    });
  }

  static std::optional<size_t> last_spatial(const std::vector<IterVar>& iters) {
    for (size_t i = iters.size(); i-- > 0;) {
      if (iters[i].kind == IterKind::Spatial && iters[i].extent > 1) return i;
    }
    return std::nullopt;
  }

  struct ReusedRead {
    int64_t index;      // in read_accesses()
    std::string order;  // an index map; empty: the buffer's own order
  };

  /// Reads that are worth copying in the order of the innermost loops: they move along the last
  /// spatial iterator, whose neighbours are computed together, and another iterator reuses them.
  static std::vector<ReusedRead> reused_reads(const Block& block) {
    const std::vector<IterVar> iters = block.iters();
    const std::optional<size_t> last = last_spatial(iters);
    std::vector<ReusedRead> reads;
    if (!last) return reads;
    const std::vector<Access> all = read_accesses(block);
    for (size_t i = 0; i < all.size(); ++i) {
      bool again = false;
      for (size_t iter = 0; iter < iters.size(); ++iter)
        again =
            again || (iters[iter].kind == IterKind::Spatial && iters[iter].extent > 1 && !all[i].uses(iter));
      if (all[i].uses(*last) && again)
        reads.push_back({static_cast<int64_t>(i), order_of_use(iters.size(), all[i], *last)});
    }
    return reads;
  }

  /// The map that puts `last` last if the access has each of its iterators
  /// as an index and another one last (a transposed operand). Otherwise
  /// empty: a copy of sums of iterators would be larger than the original.
  static std::string order_of_use(size_t iterators, const Access& access, size_t last) {
    const auto is_plain = [](const AccessIndex& index) { return index.iterator || index.constant; };
    if (!std::ranges::all_of(access.indices, is_plain) || access.indices.back().uses(last)) return {};
    const std::vector<std::string> params = axis_names(iterators, "i");
    std::vector<std::string> results;
    for (size_t i = 0; i < iterators; ++i) {
      if (access.uses(i) && i != last) results.push_back(params[i]);
    }
    results.push_back(params[last]);
    return index_map(params, results);
  }

  /// The last loop at the level-th S.
  LoopRV innermost_of(const Levels& levels, int64_t level) const {
    int64_t seen = 0;
    for (size_t i = 0; i < structure_.size(); ++i) {
      if (structure_[i] == 'S' && ++seen == level) return levels[i].back();
    }
    throw InternalError("write_reuse levels are checked when the module is made");
  }

  Levels tile(Schedule& schedule, BlockRV block, bool ragged) const {
    Levels levels(structure_.size());
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const size_t columns = last_spatial(schedule, loops);
    for (size_t i = 0; i < loops.size(); ++i) {
      const LoopFacts facts = schedule.facts(loops[i]);
      const char letter = facts.use.reduction ? 'R' : 'S';
      const bool may_hang_over = ragged && letter == 'S' && facts.extent > 1;
      const std::vector<LoopRV> tiles =
          may_hang_over ? ragged_tiles(schedule, loops[i], i == columns ? column_tiles_ : row_tiles_)
                        : perfect_tiles(schedule, loops[i], levels_of(letter, 0), max_innermost_);
      size_t next = 0;
      for (size_t level = 0; level < structure_.size(); ++level) {
        if (structure_[level] == letter) levels[level].push_back(tiles[next++]);
      }
    }
    std::vector<LoopRV> order;
    for (const std::vector<LoopRV>& level : levels) order.insert(order.end(), level.begin(), level.end());
    schedule.reorder(order);
    return levels;
  }

  /// The number of levels of `letter` in the structure from position `from` on.
  int levels_of(char letter, size_t from) const {
    return static_cast<int>(
        std::count(structure_.begin() + static_cast<std::ptrdiff_t>(from), structure_.end(), letter));
  }

  static size_t last_spatial(const Schedule& schedule, const std::vector<LoopRV>& loops) {
    size_t last = loops.size();
    for (size_t i = 0; i < loops.size(); ++i) {
      const LoopFacts loop = schedule.facts(loops[i]);
      if (!loop.use.reduction && loop.extent > 1) last = i;
    }
    return last;
  }

  /// The levels inside the first reduction get a tile that need not divide the
  /// loop; the excess is masked. The outer levels divide the tiles exactly.
  std::vector<LoopRV> ragged_tiles(Schedule& schedule, LoopRV loop, const std::vector<int64_t>& sizes) const {
    const int64_t extent = schedule.facts(loop).extent;
    std::vector<int64_t> useful;
    for (const int64_t size : sizes) {
      if (size <= extent) useful.push_back(size);
    }
    if (useful.empty()) useful.push_back(extent);
    const IntRV size = sample_one_of(schedule, useful);
    const std::vector<LoopRV> halves = schedule.split(loop, {std::nullopt, size});
    const int inner = levels_of('S', std::min(structure_.find('R'), structure_.size()));
    const int outer = levels_of('S', 0) - inner;
    std::vector<LoopRV> tiles = perfect_tiles(schedule, halves[0], outer, std::min<int64_t>(extent, 1 << 20));
    const std::vector<LoopRV> inside = perfect_tiles(schedule, halves[1], inner, max_innermost_);
    tiles.insert(tiles.end(), inside.begin(), inside.end());
    return tiles;
  }

  std::string structure_;
  int64_t max_innermost_;
  std::vector<int64_t> write_reuse_;
  bool without_reuse_;
  std::vector<int64_t> read_reuse_;
  std::vector<int64_t> row_tiles_;
  std::vector<int64_t> column_tiles_;
  bool also_perfect_;
  std::string cache_scope_;
  std::optional<ThreadTiling> threads_;
};

}  // namespace

TUNESMITH_PLUGIN(
    MultiLevelTiling, PluginKind::Module, "multi_level_tiling", "0.1.0",
    "tile reductions that reuse what they read, on several levels",
    OptionSpec::string("structure", "SSRSRS",
                       "order of spatial (S) and reduction (R) tiles, outermost first"),
    OptionSpec::integer("max_innermost", 64, 1, 1024, "largest innermost tile, in iterations"),
    OptionSpec::integers("write_reuse", {1, 2}, 1, 8,
                         "spatial levels at which a cached result may be written; one sketch each"),
    OptionSpec::boolean("without_reuse", true, "also a sketch that writes its result directly"),
    OptionSpec::integers("read_reuse", {}, 1, 8,
                         "spatial levels at which operands that are used again may be copied"),
    OptionSpec::integers(
        "row_tiles", {}, 1, 1024,
        "sizes of the tile inside the first reduction that spatial loops but the last may get; they "
        "need not divide the loop. Empty: perfect tiles on all levels"),
    OptionSpec::integers("column_tiles", {}, 1, 1024, "the same for the last spatial loop, along vectors"),
    OptionSpec::boolean("also_perfect", false,
                        "with row_tiles, also sketches with perfect tiles on all levels, without copies of "
                        "operands; these alone where the rows of a tile read nothing in common, as of a "
                        "depthwise convolution, and small tiles divide the loops"),
    OptionSpec::string("cache_scope", "local", "memory scope of cached results and operands"),
    OptionSpec::strings(
        "tile_binds", {}, {},
        "for each S before the first R the axis of the target that its tiles are bound to, or "
        "vthread: one thread computes them. Empty: no tile is bound"),
    OptionSpec::string("fetch_scope", "",
                       "with tile_binds, the memory scope into which all threads copy the operands of a "
                       "reduction tile. Empty: they are read where they are"),
    OptionSpec::integers("fetch_widths", {1, 2, 4, 8, 16}, 1, 64,
                         "with fetch_scope, choices for the elements that a thread copies at once; those of "
                         "more than 16 bytes are left out"));
