// Multi-level tiling (MetaSchedule, figure 5; Ansor's "multi-level tiling with fusion").
//
// Every spatial iterator is cut into as many tiles as `structure` has S, every reduction iterator into as
// many as it has R, and the tiles are ordered as `structure` says. Each entry of `write_reuse` adds a sketch
// whose result is gathered in a cache and written at that spatial level (1 counts from the outermost S).
#include <algorithm>

#include <tunesmith/ir/regions.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/schedule/analysis.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class MultiLevelTiling final : public TransformationModule {
 public:
  explicit MultiLevelTiling(const Options& options)
      : structure_(options.get_string("structure")),
        max_innermost_(static_cast<int>(options.get_int("max_innermost"))),
        write_reuse_(options.get_ints("write_reuse")),
        without_reuse_(options.get_bool("without_reuse")),
        cache_scope_(options.get_string("cache_scope")) {
    if (structure_.empty() || structure_.find_first_not_of("SR") != std::string::npos) {
      options.fail("structure", "expected a string of S (spatial) and R (reduction), as SSRSRS");
    }
    if (structure_.front() != 'S')
      options.fail("structure", "expected S first: a reduction cannot stand outermost");
    const int64_t levels = std::count(structure_.begin(), structure_.end(), 'S');
    for (const int64_t level : write_reuse_) {
      if (level < 1 || level >= levels) {
        options.fail("write_reuse",
                     "expected levels from 1 to " + std::to_string(levels - 1) + " for this structure");
      }
    }
    if (write_reuse_.empty() && !without_reuse_)
      options.fail("without_reuse", "no sketch is left: write_reuse is empty");
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& /*context*/) override {
    const Block& block = *schedule.program().find_block(block_name);
    if (!needs_tiling(block))
      return ModuleResult::not_applicable("the block is no reduction that reuses what it reads");
    std::vector<Schedule> sketches;
    if (without_reuse_) {
      sketches.push_back(schedule.clone());
      tile(sketches.back(), sketches.back().get_block(block_name));
    }
    for (const int64_t level : write_reuse_)
      sketches.push_back(with_write_cache(schedule, block_name, level));
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  using Levels = std::vector<std::vector<LoopRV>>;  // one list of loops for each letter of the structure

  Schedule with_write_cache(const Schedule& base, const std::string& block_name, int64_t level) const {
    Schedule schedule = base.clone();
    const BlockRV block = schedule.get_block(block_name);
    const BlockRV writer = reusable_consumer(schedule, block) ? schedule.get_consumers(block).front()
                                                              : schedule.cache_write(block, 0, cache_scope_);
    const Levels levels = tile(schedule, block);
    schedule.reverse_compute_at(writer, innermost_of(levels, level));
    return schedule;
  }

  /// An elementwise consumer can take the place of the copy out of a cache: the block's own buffer is then
  /// the cache.
  static bool reusable_consumer(const Schedule& schedule, BlockRV block) {
    const std::vector<Block*> consumers = consumers_of(schedule.program(), schedule.block(block));
    return consumers.size() == 1 && is_elementwise(*consumers.front()) &&
           !writes_output(schedule.program(), schedule.block(block)) &&
           same_shape(schedule.block(block), *consumers.front());
  }

  static bool same_shape(const Block& producer, const Block& consumer) {
    return writes_of(producer).front().buffer->shape == writes_of(consumer).front().buffer->shape;
  }

  /// The last loop at the level-th S.
  LoopRV innermost_of(const Levels& levels, int64_t level) const {
    int64_t seen = 0;
    for (size_t i = 0; i < structure_.size(); ++i) {
      if (structure_[i] == 'S' && ++seen == level) return levels[i].back();
    }
    throw InternalError("write_reuse levels are checked when the module is made");
  }

  Levels tile(Schedule& schedule, BlockRV block) const {
    Levels levels(structure_.size());
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    for (const LoopRV& loop : loops) {
      const LoopUse use = use_of(schedule.loop(loop));
      const char letter = use.reduction ? 'R' : 'S';
      const int parts = static_cast<int>(std::count(structure_.begin(), structure_.end(), letter));
      const std::vector<IntRV> factors = schedule.sample_perfect_tile(loop, parts, max_innermost_);
      const std::vector<LoopRV> tiles = schedule.split(loop, {factors.begin(), factors.end()});
      size_t next = 0;
      for (size_t i = 0; i < structure_.size(); ++i) {
        if (structure_[i] == letter) levels[i].push_back(tiles[next++]);
      }
    }
    std::vector<LoopRV> order;
    for (const std::vector<LoopRV>& level : levels) order.insert(order.end(), level.begin(), level.end());
    schedule.reorder(order);
    return levels;
  }

  std::string structure_;
  int max_innermost_;
  std::vector<int64_t> write_reuse_;
  bool without_reuse_;
  std::string cache_scope_;
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
    OptionSpec::string("cache_scope", "local", "memory scope of the cached result"));
