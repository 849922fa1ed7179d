#include "tunesmith/tiling/group_tiling.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/element_reader.h"
#include "matrix_form.h"
#include "tunesmith/analysis/accesses.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/tiling/tensor_tile.h"
#include "unit_intrinsics.h"

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
    sums_ = operand(names_.product, 0).buffer->shape;
    make_copies();
    lay_out();
    const Loops whole = s_.get_loops(block_);
    cut_panels(whole[whole.size() - 2]);
    const TensorTile unit = tile_for_intrinsic(s_, block_, names_.product);
    const LoopRV reduction = unit.outer.back();
    for (const LoopRV& loop : unit.rest) {
      if (use_of(s_.loop(loop), s_.block(block_)).reduction)
        refuse("the block reduces over more than the intrinsic does");
    }
    rows_ = cut(unit.outer[0], 3);
    columns_ = cut(columns_of(unit), 3);
    if (is_bulk() && s_.loop(reduction).const_extent() < 2)
      refuse("the reduction is one step, and a producer of its own has nothing to run ahead of");
    s_.reorder({rows_.loops[0], columns_.loops[0], reduction, rows_.loops[1], columns_.loops[1],
                rows_.loops[2], columns_.loops[2], unit.tile});
    begin_with_zero(reduction);
    const Cut steps = cut(reduction, 2);
    s_.reorder({steps.loops[0], rows_.loops[1], columns_.loops[1], steps.loops[1], rows_.loops[2],
                columns_.loops[2], unit.tile});
    for (const size_t factor : {0U, 1U}) {
      if (is_held()) s_.compute_at(held_[factor], steps.loops[1]);
      s_.compute_at(fetched_[factor], steps.loops[0]);
    }
    if (is_bulk()) s_.software_pipeline(steps.loops[0], sample_one_of(names_.stages));
    s_.reverse_compute_at(store_, columns_.loops[0]);
    s_.reverse_compute_at(out_, columns_.loops[0]);
    Loops grid = unit.rest;
    grid.push_back(rows_.loops[0]);
    grid.push_back(columns_.loops[0]);
    s_.bind(s_.fuse(grid), names_.launch_axis);
    s_.bind(s_.fuse({rows_.loops[1], columns_.loops[1]}), names_.group_axis);
    for (size_t factor = 0; factor < held_.size(); ++factor)
      tensorize_tiles(s_, held_[factor], names_.loads[factor]);
    store_tiles();
    const BlockRV call = s_.tensorize(unit.tile, names_.product);
    if (is_bulk()) check_bulk_copies();
    return call;
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

  bool is_held() const { return !names_.loads[0].empty(); }
  bool is_bulk() const { return !names_.bulk.empty(); }

  int64_t columns_of_tile() const {
    return std::accumulate(sums_.begin() + 1, sums_.end(), int64_t{1}, std::multiplies());
  }

  /// Of the reduction in one call.
  int64_t steps_of_tile() const {
    int64_t steps = 1;
    for (const IterVar& iter : intrinsic(names_.product)->block().iters)
      steps *= iter.kind == IterKind::Reduction ? iter.extent : 1;
    return steps;
  }

  /// The loop over columns of one call: two loops where they are in panels.
  Loops cut_panels(LoopRV columns) {
    return sums_.size() == 2 ? Loops{columns} : s_.split(columns, {std::nullopt, sums_.back()});
  }

  /// The loop over tiles of columns; no more than one tile is along what is left of a panel's.
  LoopRV columns_of(const TensorTile& tile) const {
    return sums_.size() == 2 ? tile.outer[1] : s_.fuse({tile.outer[1], tile.outer[2]});
  }

  void make_copies() {
    const Buffer result = writes_of(s_.block(block_)).front().buffer;
    const std::vector<BlockRV> padded =
        pad_for_tile(s_, block_, {sums_.front(), columns_of_tile()}, {steps_of_tile()});
    if (is_bulk() && !padded.empty())
      refuse("tiles do not divide the factors, and a bulk copy has no condition");
    make_result(writes_of(s_.block(block_)).front().buffer != result);
    store_ = s_.cache_write(block_, 0, names_.held_scope);
    for (const size_t factor : {0U, 1U}) {
      const bool lies = form_.reduction_last[factor];
      const bool taken = takes_reduction_last(*intrinsic(names_.product), factor);
      const bool shared = is_held() && turns(*intrinsic(names_.loads[factor])) ? !taken : taken;
      fetched_.push_back(copy_factor(factor, names_.shared_scope, lies, shared, lies));
      if (is_held()) held_.push_back(copy_factor(factor, names_.held_scope, shared, taken, taken));
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
    s_.transform_layout(block_, "write", 0, map_to_tiles(block_, sums_));
    align_rows(store_);
    for (const size_t factor : {0U, 1U}) {
      if (names_.panel > 0) {
        s_.transform_layout(fetched_[factor], "write", 0, map_to_panels(fetched_[factor]));
        s_.storage_swizzle(fetched_[factor], 0);
        continue;
      }
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
    for (const BlockRV& copy : fetched_) {
      if (is_bulk()) {
        s_.annotate(copy, "bulk_fetch", int64_t{1});
      } else {
        s_.annotate(copy, "cooperative_fetch", sample_one_of(names_.widths));
      }
    }
    s_.annotate(out_, "cooperative_fetch", sample_one_of(names_.widths));
  }

  /// Each is as likely.
  IntRV sample_one_of(const std::vector<int64_t>& choices) {
    return s_.sample_categorical(
        choices, std::vector<double>(choices.size(), 1.0 / static_cast<double>(choices.size())));
  }

  /// They are made when a candidate is finished: a loop is pipelined before its copies are calls, and how
  /// large these can be depends on what was sampled. Whether there can be any does not.
  void check_bulk_copies() const {
    Schedule trial = s_.clone();
    for (const BlockRV& copy : fetched_) tensorize_bulk_copy(trial, copy, names_.bulk);
  }

  TensorIntrinsicPtr intrinsic(const std::string& name) const {
    TensorIntrinsicPtr found = s_.intrinsics().find(name);
    if (found == nullptr) refuse("an intrinsic is not there");
    return found;
  }

  TensorOperand operand(const std::string& name, size_t position) const {
    const TensorIntrinsicPtr found = intrinsic(name);
    if (found->operands.size() <= position) refuse("an intrinsic has other operands");
    return found->operands[position];
  }

  void align_rows(BlockRV copy) {
    if (names_.piece_bytes == 0) return;
    const int64_t bytes = writes_of(s_.block(copy)).front().buffer->dtype.bytes();
    s_.storage_align(copy, 0, -2, 2 * names_.piece_bytes / bytes, names_.piece_bytes / bytes);
  }

  /// "(d0, d1, d2) -> (d0, d2 // 64, d1, d2 % 64)".
  std::string map_to_panels(BlockRV part) const {
    const size_t rank = writes_of(s_.block(part)).front().buffer->shape.size();
    std::vector<std::string> axes;
    for (size_t d = 0; d < rank; ++d) axes.push_back(fmt::format("d{}", d));
    std::vector<std::string> panels(axes.begin(), axes.end() - 2);
    panels.push_back(fmt::format("{} // {}", axes.back(), names_.panel));
    panels.push_back(axes[rank - 2]);
    panels.push_back(fmt::format("{} % {}", axes.back(), names_.panel));
    return fmt::format("({}) -> ({})", fmt::join(axes, ", "), fmt::join(panels, ", "));
  }

  /// "(d0, d1, d2) -> (d0, d1 // 16, d2 // 16, d1 % 16, d2 % 16)", and for a tile of 64 x 2 x 64
  /// "(d0, d1, d2) -> (d0, d1 // 64, d2 // 128, d1 % 64, d2 % 128 // 64, d2 % 64)".
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
      const int64_t width = d + 1 < rank ? tile.front() : tile.back();
      const int64_t panels = d + 1 < rank || tile.size() == 2 ? 1 : tile[1];
      outer.push_back(fmt::format("d{} // {}", d, width * panels));
      if (tile.size() == 3 && d + 1 == rank)
        inner.push_back(fmt::format("d{} % {} // {}", d, width * panels, width));
      inner.push_back(fmt::format("d{} % {}", d, width));
    }
    return fmt::format("({}) -> ({}, {})", fmt::join(axes, ", "), fmt::join(outer, ", "),
                       fmt::join(inner, ", "));
  }

  /// Before the reduction is cut: whether one of its loops has one iteration would decide how many there are
  /// around the zeros.
  void begin_with_zero(LoopRV reduction) {
    const Loops loops = s_.get_loops(s_.decompose_reduction(block_, reduction));
    const size_t own = loops.size() - 4 - sums_.size();  // of the group, of its tiles, and of a tile
    s_.tensorize(loops[own + 4], names_.zero);
    s_.bind(s_.fuse({loops[own], loops[own + 1]}), names_.group_axis);
  }

  void store_tiles() {
    const Loops loops = s_.get_loops(store_);
    const Loops rows = s_.split(loops[loops.size() - 2], {rows_.factors[1], rows_.factors[2], sums_.front()});
    const Loops columns =
        s_.split(loops.back(), {columns_.factors[1], columns_.factors[2], columns_of_tile()});
    Loops order{rows[0], columns[0], rows[1], columns[1], rows[2]};
    for (const LoopRV& loop : cut_panels(columns[2])) order.push_back(loop);
    s_.reorder(order);
    s_.bind(s_.fuse({rows[0], columns[0]}), names_.group_axis);
    s_.tensorize(rows[2], names_.store);
  }

  Schedule& s_;
  GroupTiling names_;
  const BlockRV block_;
  MatrixForm form_;
  BlockRV out_, store_;
  std::vector<BlockRV> fetched_, held_;
  Cut rows_, columns_;
  std::vector<int64_t> sums_;  // of one call
};

}  // namespace

BlockRV tile_for_groups(Schedule& schedule, const std::string& block, const GroupTiling& tiling) {
  return Tiler(schedule, block, tiling).run();
}

}  // namespace tunesmith
