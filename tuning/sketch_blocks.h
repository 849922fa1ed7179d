// The blocks of a sketch that have much of the work, and whether they are plain (plain_blocks.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/space/space.h"

namespace tunesmith {

/// A block without blocks inside, and its part of the arithmetic of its program.
struct BusyBlock {
  const Block* block = nullptr;
  double share = 0.0;
};

/// Blocks with more than `share` of the program's work, in text order.
std::vector<BusyBlock> busy_blocks(const Program& program, double share);

/// Answers questions about the blocks of one sketch. The arguments must outlive it. Single-threaded.
class SketchBlocks {
 public:
  /// `steps` made `sketch` from `original`; its decisions may have changed since.
  SketchBlocks(const Program& original, const Schedule& sketch, std::span<const SketchStep> steps);

  bool is_plain(const Block& block) const;
  /// Could other decisions make a plain block of the sketch not plain?
  bool is_open(const Block& block) const;
  /// The block of the original program that it derives from, else its own name.
  const std::string& origin_of(const Block& block) const;

 private:
  /// Is it, or a part of it, a reduction that reuses what it reads?
  bool gains_from_own_tiles(const Block& block) const;
  /// Does search decide where the block is computed?
  bool is_placed_by_search(const Block& block) const;
  /// The blocks at which the modules were called that made the others.
  const std::map<BlockId, std::string>& origins() const;
  bool shares(const Loop& loop, const Block& block) const;
  bool shares_a_loop(const Block& block) const;
  /// Is it a part of another block, or does it have parts?
  bool is_in_parts(const Block& block) const;
  /// For a block without reuse.
  bool is_plain_alone(const Block& block) const;

  const Program& original_;
  const Schedule& sketch_;
  const std::span<const SketchStep> steps_;
  mutable std::optional<std::map<BlockId, std::string>> origins_;  // computed on demand
};

}  // namespace tunesmith
