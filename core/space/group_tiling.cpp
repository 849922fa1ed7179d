#include "tunesmith/space/group_tiling.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/element_reader.h"
#include "space/matrix_form.h"
#include "space/unit_intrinsics.h"
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
    form_ = bring_to_matrix_form(s_, block_);
    if (!names_.unit.empty()) choose();
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

  /// Names what multiplies such factors, in the order in which they lie if that is there.
  void choose() {
    const Block& block = s_.block(block_);
    const std::vector<Access> reads = read_accesses(block);
    const auto type = [&](size_t factor) { return reads.at(form_.reads[factor]).buffer->dtype; };
    const std::optional<UnitIntrinsics> chosen =
        choose_intrinsics(names_.unit, {writes_of(block).front().buffer->dtype, {type(0), type(1)}},
                          form_.reduction_last, names_);
    if (!chosen) refuse("the unit has no product of these types");
    names_.product = chosen->product->name;
    names_.loads = {chosen->loads[0]->name, chosen->loads[1]->name};
    names_.zero = chosen->zero->name;
    names_.store = chosen->store->name;
  }

  void make_copies() {
    const Buffer result = writes_of(s_.block(block_)).front().buffer;
    const std::vector<BlockRV> padded = pad_for_intrinsic(s_, block_, names_.product);
    make_result(writes_of(s_.block(block_)).front().buffer != result);
    store_ = s_.cache_write(block_, 0, names_.held_scope);
    for (const size_t factor : {0U, 1U}) {
      const bool lies = form_.reduction_last[factor];
      const bool held = takes_reduction_last(*intrinsic(names_.product), factor);
      const bool shared = turns(*intrinsic(names_.loads[factor])) ? !held : held;
      fetched_.push_back(copy_factor(factor, names_.shared_scope, lies, shared, lies));
      held_.push_back(copy_factor(factor, names_.held_scope, shared, held, held));
    }
    for (const BlockRV& copy : form_.copies) s_.compute_inline(copy);
    for (const BlockRV& copy : padded) s_.compute_inline(copy);
  }

  /// `from` and `to`: has the factor the reduction as last dimension, before and in the copy? `goes`: and
  /// where they differ, as the copy's innermost loop?
  BlockRV copy_factor(size_t factor, const std::string& scope, bool from, bool to, bool goes) {
    const int read = form_.reads[factor];
    if (from == to) return s_.cache_read(block_, read, scope);
    const BlockRV copy = s_.reindex_cache_read(block_, read, scope, map_of_factor(s_, block_, factor, to));
    std::vector<int64_t> order(s_.block(copy).iters.size());
    std::iota(order.begin(), order.end(), 0);
    if (!goes) {
      std::swap(order.end()[-1], order.end()[-2]);
      s_.reorder_block_iter_var(copy, order);
    }
    return copy;
  }

  /// What writes the result: the copies after the block and a consumer of each element are one block.
  void make_result(bool padded) {
    const std::optional<BlockRV> reader = padded         ? std::optional(s_.get_consumers(block_).at(0))
                                          : form_.result ? form_.result
                                                         : reader_of(block_);
    if (!reader) {
      out_ = s_.cache_write(block_, 0, names_.shared_scope);
      return;
    }
    s_.set_scope(block_, 0, names_.shared_scope);
    out_ = *reader;
    while (const std::optional<BlockRV> next = reader_of(out_)) s_.reverse_compute_inline(*next);
  }

  /// The only reader of what the block writes, if that reads element by element.
  std::optional<BlockRV> reader_of(BlockRV block) {
    const Buffer made = writes_of(s_.block(block)).front().buffer;
    const std::vector<Block*> readers = readers_of(s_.program(), made);
    Stage stage;
    std::vector<Expr> indices;
    if (readers.size() != 1 || writes_output(s_.program(), s_.block(block)) ||
        stage_refusal(s_.program(), *readers.front(), &stage) || readers.front()->has_reduction() ||
        body_store(*readers.front()) == nullptr || element_reader_refusal(*readers.front(), made, &indices) ||
        inputs_before_refusal(s_.program(), stage, made, s_.block(block)))
      return std::nullopt;
    return s_.handle(*readers.front());
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
      const std::vector<int64_t> held = operand(names_.loads[factor], 0).buffer->shape;
      s_.transform_layout(held_[factor], "write", 0, map_to_tiles(held_[factor], held));
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

  TensorIntrinsicPtr intrinsic(const std::string& name) const {
    TensorIntrinsicPtr found = TensorIntrinsics::global().find(name);
    if (found == nullptr) refuse("an intrinsic is not there");
    return found;
  }

  TensorOperand operand(const std::string& name, size_t position) const {
    const TensorIntrinsicPtr found = intrinsic(name);
    if (found->operands.size() <= position) refuse("an intrinsic has other operands");
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
  GroupTiling names_;
  const BlockRV block_;
  MatrixForm form_;
  BlockRV out_, store_;
  std::vector<BlockRV> fetched_, held_;
  Cut rows_, columns_;
};

}  // namespace

BlockRV tile_for_groups(Schedule& schedule, const std::string& block, const GroupTiling& tiling) {
  return Tiler(schedule, block, tiling).run();
}

}  // namespace tunesmith
