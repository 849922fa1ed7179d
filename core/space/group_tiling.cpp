#include "tunesmith/space/group_tiling.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/space/tensor_tile.h"

namespace tunesmith {
namespace {

using Loops = std::vector<LoopRV>;
using Factors = std::vector<IntRV>;

/// A loop over tiles of the intrinsic: those of the launch, of the group and the group's own, or steps of the
/// reduction outside and inside of the groups.
struct Cut {
  Factors factors;
  Loops loops;
};

class Tiler {
 public:
  Tiler(Schedule& schedule, const std::string& block, const GroupTiling& names)
      : s_(schedule), names_(names), block_(s_.get_block(block)) {}

  BlockRV run() {
    if (read_accesses(s_.block(block_)).size() != 2 || writes_of(s_.block(block_)).size() != 1)
      refuse("the block is no product of two factors");
    make_copies();
    lay_out();
    const TensorTile unit = tile_for_intrinsic(s_, block_, names_.product);
    for (const LoopRV& loop : unit.rest) {
      if (use_of(s_.loop(loop), s_.block(block_)).reduction)
        refuse("the block reduces over more than the intrinsic does");
    }
    rows_ = cut(unit.outer[0], 3);
    columns_ = cut(unit.outer[1], 3);
    s_.reorder({rows_.loops[0], columns_.loops[0], unit.outer[2], rows_.loops[1], columns_.loops[1],
                rows_.loops[2], columns_.loops[2], unit.tile});
    begin_with_zero(unit.outer[2]);
    const Cut steps = cut(unit.outer[2], 2);
    s_.reorder({steps.loops[0], rows_.loops[1], columns_.loops[1], steps.loops[1], rows_.loops[2],
                columns_.loops[2], unit.tile});
    for (const size_t factor : {0U, 1U}) {
      s_.compute_at(held_[factor], steps.loops[1]);
      s_.compute_at(fetched_[factor], steps.loops[0]);
    }
    s_.reverse_compute_at(store_, columns_.loops[0]);
    s_.reverse_compute_at(out_, columns_.loops[0]);
    Loops grid = unit.rest;
    grid.push_back(rows_.loops[0]);
    grid.push_back(columns_.loops[0]);
    s_.bind(s_.fuse(grid), names_.launch_axis);
    s_.bind(s_.fuse({rows_.loops[1], columns_.loops[1]}), names_.group_axis);
    for (const size_t factor : {0U, 1U}) tensorize_tiles(s_, held_[factor], names_.loads[factor]);
    store_tiles();
    return s_.tensorize(unit.tile, names_.product);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw ScheduleError("tile_for_groups", reason, s_.block(block_).name, s_.program(), &s_.block(block_));
  }

  void make_copies() {
    const std::vector<BlockRV> padded = pad_for_intrinsic(s_, block_, names_.product);
    if (writes_output(s_.program(), s_.block(block_))) {
      out_ = s_.cache_write(block_, 0, names_.shared_scope);
    } else {
      s_.set_scope(block_, 0, names_.shared_scope);
      out_ = s_.get_consumers(block_).at(0);
    }
    store_ = s_.cache_write(block_, 0, names_.held_scope);
    for (const int factor : {0, 1}) {
      fetched_.push_back(s_.cache_read(block_, factor, names_.shared_scope));
      held_.push_back(s_.cache_read(block_, factor, names_.held_scope));
    }
    for (const BlockRV& copy : padded) s_.compute_inline(copy);
  }

  Cut cut(LoopRV loop, int parts) {
    Cut result{s_.sample_perfect_tile(loop, parts, names_.max_tiles), {}};
    result.loops = s_.split(loop, {result.factors.begin(), result.factors.end()});
    return result;
  }

  /// Tiles that groups hold lie one after the other, and so do those whose rows would not all begin where the
  /// intrinsic wants them; rows that are shared begin at odd multiples of a piece.
  void lay_out() {
    const std::vector<int64_t> sums = operand(names_.product, 0).buffer->shape;
    s_.transform_layout(block_, "write", 0, map_to_tiles(block_, sums));
    align_rows(store_);
    for (const size_t factor : {0U, 1U}) {
      const TensorOperand from = operand(names_.loads[factor], 1);
      const std::vector<int64_t>& tile = from.buffer->shape;
      s_.transform_layout(held_[factor], "write", 0, map_to_tiles(held_[factor], tile));
      if (tile.back() * from.buffer->dtype.bytes() % from.alignment == 0) {
        align_rows(fetched_[factor]);
      } else {
        s_.transform_layout(fetched_[factor], "write", 0, map_to_tiles(fetched_[factor], tile));
      }
    }
    const std::vector<double> even(names_.widths.size(), 1.0 / static_cast<double>(names_.widths.size()));
    for (const BlockRV& copy : {fetched_[0], fetched_[1], out_})
      s_.annotate(copy, "cooperative_fetch", s_.sample_categorical(names_.widths, even));
  }

  TensorOperand operand(const std::string& intrinsic, size_t position) const {
    const TensorIntrinsicPtr found = TensorIntrinsics::global().find(intrinsic);
    if (found == nullptr || found->operands.size() <= position)
      refuse("an intrinsic is not there, or has other operands");
    return found->operands[position];
  }

  void align_rows(BlockRV copy) {
    const int64_t bytes = writes_of(s_.block(copy)).front().buffer->dtype.bytes();
    s_.storage_align(copy, 0, -2, 2 * names_.piece_bytes / bytes, names_.piece_bytes / bytes);
  }

  /// "(d0, d1, d2) -> (d0, d1 // 16, d2 // 16, d1 % 16, d2 % 16)".
  std::string map_to_tiles(BlockRV part, const std::vector<int64_t>& tile) const {
    const size_t rank = writes_of(s_.block(part)).front().buffer->shape.size();
    std::vector<std::string> axes;
    std::vector<std::string> outer;
    std::vector<std::string> inner;
    for (size_t d = 0; d < rank; ++d) {
      axes.push_back(fmt::format("d{}", d));
      if (d + 2 < rank) {
        outer.push_back(axes.back());
        continue;
      }
      outer.push_back(fmt::format("d{} // {}", d, tile[d + 2 - rank]));
      inner.push_back(fmt::format("d{} % {}", d, tile[d + 2 - rank]));
    }
    return fmt::format("({}) -> ({}, {})", fmt::join(axes, ", "), fmt::join(outer, ", "),
                       fmt::join(inner, ", "));
  }

  /// Before the reduction is cut: whether one of its loops has one iteration would decide how many there are
  /// around the zeros.
  void begin_with_zero(LoopRV reduction) {
    const Loops loops = s_.get_loops(s_.decompose_reduction(block_, reduction));
    const size_t own = loops.size() - 6;  // of the group, of its tiles, and of a tile
    s_.tensorize(loops[own + 4], names_.zero);
    s_.bind(s_.fuse({loops[own], loops[own + 1]}), names_.group_axis);
  }

  void store_tiles() {
    const TensorTile stored = tile_for_intrinsic(s_, store_, names_.store);
    const Loops rows = s_.split(stored.outer[0], {rows_.factors[1], rows_.factors[2]});
    const Loops columns = s_.split(stored.outer[1], {columns_.factors[1], columns_.factors[2]});
    s_.reorder({rows[0], columns[0], rows[1], columns[1], stored.tile});
    s_.bind(s_.fuse({rows[0], columns[0]}), names_.group_axis);
    s_.tensorize(stored.tile, names_.store);
  }

  Schedule& s_;
  const GroupTiling& names_;
  const BlockRV block_;
  BlockRV out_, store_;
  std::vector<BlockRV> fetched_, held_;
  Cut rows_, columns_;
};

}  // namespace

BlockRV tile_for_groups(Schedule& schedule, const std::string& block, const GroupTiling& tiling) {
  return Tiler(schedule, block, tiling).run();
}

}  // namespace tunesmith
