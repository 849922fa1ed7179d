// Multi-level tiling for machines whose threads share memory: binds the outermost
// spatial tiles to levels of the target; all threads together fetch the operands of a
// reduction tile, and each thread keeps its results until the reduction is complete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// A value.
class ThreadTiling {
 public:
  /// A tile's binding: a level that does not synchronise, one that does, or none.
  enum class Bound : uint8_t { Apart, Together, Nothing };

  /// Nothing if the options bind no tiles. Throws UserError for
  /// contradictory options. The letters of `structure` were checked.
  static std::optional<ThreadTiling> from(const Options& options);

  /// Its annotations, and the modules that implement them.
  ModuleDescription description() const;

  /// One sketch. Throws ScheduleError if the block's loops cannot be arranged in this way.
  ModuleResult apply(const Schedule& schedule, const std::string& block_name, ModuleContext& context) const;

 private:
  /// The loops of each letter of the structure, and for each spatial loop of the block how it was cut.
  struct Tiles {
    std::vector<std::vector<LoopRV>> levels;
    std::vector<std::vector<IntRV>> spatial_factors;
  };
  explicit ThreadTiling(const Options& options);
  Schedule sketch(const Schedule& base, const std::string& block_name, bool through_consumer,
                  const std::vector<Bound>& bounds) const;
  std::vector<BlockRV> fetches(Schedule& schedule, BlockRV block) const;
  Tiles cut(Schedule& schedule, BlockRV block) const;
  void arrange(Schedule& schedule, const Tiles& tiles, const std::vector<Bound>& bounds) const;
  /// Tiles the writer's loops like `tiles`, by position in tile_binds_.
  std::vector<std::vector<LoopRV>> tile_writer(Schedule& schedule, const std::vector<LoopRV>& loops,
                                               const Tiles& tiles, const std::vector<Bound>& bounds) const;

  std::string structure_;
  int64_t max_innermost_;
  std::vector<std::string> tile_binds_;
  std::string result_scope_;
  std::string fetch_scope_;
  std::vector<int64_t> fetch_widths_;
};

}  // namespace tunesmith
