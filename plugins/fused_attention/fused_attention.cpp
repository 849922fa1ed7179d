// Attention in one launch, for devices: a block of threads has some rows, takes some keys at a time, and
// rescales what it has so far where a row's maximum grows. Scores and results stay in registers.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/index_map.h>
#include <tunesmith/tiling/sampled_tiles.h>
#include <tunesmith/tiling/thread_places.h>
#include <tunesmith/tiling/where_legal.h>

#include "attention.h"

namespace {

using namespace tunesmith;

/// Steps of a product that are written out.
constexpr int64_t kSteps = 4;

/// A thread has `row_tiles` rows and `key_tiles` keys of its block's scores.
struct Choices {
  std::vector<int64_t> thread_rows;
  std::vector<int64_t> thread_columns;
  std::vector<int64_t> row_tiles;
  std::vector<int64_t> key_tiles;
};

/// The loop that the iterator of the block is bound to.
LoopRV loop_of(Schedule& schedule, BlockRV block, size_t iterator) {
  const Var var = schedule.block(block).iters()[iterator].binding.var();
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  return *std::ranges::find_if(loops, [&](LoopRV loop) { return schedule.loop(loop).var() == var; });
}

class Fusion {
 public:
  Fusion(Schedule& schedule, const Attention& found, const ThreadPlaces& places, const Choices& choices)
      : schedule_(schedule), found_(found), places_(places), choices_(choices) {}

  void run() {
    prepare();
    sample();
    cut_result();
    cut_sum();
    for (const BlockRV block : {sum_parts_, exponential_}) schedule_.compute_at(block, steps_);
    maximum_parts_ = schedule_.rolling_update(maximum_, steps_);
    place_scores();
    reduce(maximum_parts_);
    share_rows(maximum_);
    const std::vector<BlockRV> readers = schedule_.get_consumers(maximum_parts_);
    schedule_.set_scope(readers.at(0), 0, places_.shared);
    bind_rows(readers.at(0), outer_.size() + 1);
    tile(exponential_, steps_);
    schedule_.set_scope(exponential_, 0, places_.shared);
    reduce(sum_parts_);
    share_rows(sum_);
    share_result();
    copy_operands();
    schedule_.bind(outer_.size() > 1 ? schedule_.fuse(outer_) : outer_.front(), places_.blocks);
  }

 private:
  struct Tile {
    LoopRV threads;
    LoopRV rows;  // of a thread
    LoopRV columns;
  };

  std::vector<LoopRV> loops_inside(BlockRV block, LoopRV place) {
    std::vector<LoopRV> loops = schedule_.get_loops(block);
    const LoopId id = schedule_.location(place);
    const auto at = std::ranges::find_if(loops, [&](LoopRV loop) { return schedule_.location(loop) == id; });
    return {at + 1, loops.end()};
  }

  /// The blocks that write the buffer of `block`, in text order.
  std::vector<BlockRV> writers(BlockRV block) {
    const std::string buffer = schedule_.writes_of(block).front().buffer->name;
    std::vector<std::string> names;
    for (const Pointer<Block>& other : schedule_.program().blocks()) {
      if (writes_of(*other).front().buffer->name == buffer) names.push_back(other->name);
    }
    std::vector<BlockRV> found;
    for (const std::string& name : names) found.push_back(schedule_.get_block(name));
    return found;
  }

  /// Brings the blocks to one form: the product writes for `scores_`, and one block divides behind the
  /// result.
  void prepare() {
    result_ = schedule_.get_block(found_.result);
    product_ = schedule_.get_block(found_.product);
    maximum_ = schedule_.get_block(found_.maximum);
    exponential_ = schedule_.get_block(found_.exponential);
    sum_ = schedule_.get_block(found_.sum);
    if (found_.quotient.empty()) {
      const std::vector<BlockRV> readers = schedule_.get_consumers(result_);
      if (readers.size() != 1) refuse("the division by the sum does not follow the result");
      end_ = readers.front();
    } else {
      schedule_.compute_inline(schedule_.get_block(found_.quotient));
      end_ = schedule_.factor_out(result_);
    }
    if (schedule_.get_consumers(sum_).size() != 1) refuse("the sum has other readers than the division");
    scores_ = found_.scores.empty() ? schedule_.cache_write(product_, 0, places_.own)
                                    : schedule_.get_block(found_.scores);
    while (schedule_.block(schedule_.get_producers(scores_).at(0)).name != found_.product)
      schedule_.compute_inline(schedule_.get_producers(scores_).at(0));
    for (const BlockRV product : {product_, result_}) {
      for (const BlockRV operand : schedule_.get_producers(product)) {
        const Block view = schedule_.block(operand);
        if (view.name != found_.exponential && is_elementwise(view))
          where_legal(schedule_, [&](Schedule& each) { each.compute_inline(operand); });
      }
    }
    const auto axes =
        result_axes(schedule_.block(result_), schedule_.writes_of(exponential_).front().buffer->name);
    if (!axes) refuse("the second product has other axes than rows, keys and columns");
    axes_ = *axes;
  }

  [[noreturn]] void refuse(const char* reason) const {
    throw ScheduleError("fused_attention", reason, found_.result);
  }

  void sample() {
    const std::vector<IterVar> iters = schedule_.block(result_).iters();
    const auto fits = [&](const std::vector<int64_t>& choices, const auto& test) {
      std::vector<int64_t> kept;
      std::ranges::copy_if(choices, std::back_inserter(kept), test);
      if (kept.empty()) refuse("threads do not divide the rows, keys or columns");
      return kept;
    };
    const int64_t rows = iters[axes_.row].extent;
    const int64_t keys = iters[axes_.key].extent;
    const int64_t columns = iters[axes_.column].extent;
    const auto thread_rows = fits(choices_.thread_rows, [&](int64_t n) { return rows % (2 * n) == 0; });
    const auto thread_columns = fits(
        choices_.thread_columns, [&](int64_t n) { return keys % (2 * n) == 0 && columns % (2 * n) == 0; });
    const auto row_tiles = fits(choices_.row_tiles, [&](int64_t n) {
      return std::ranges::all_of(thread_rows, [&](int64_t threads) { return rows % (threads * n) == 0; });
    });
    const auto key_tiles = fits(choices_.key_tiles, [&](int64_t n) {
      return std::ranges::all_of(thread_columns, [&](int64_t threads) {
        return keys % (threads * n) == 0 && keys > threads * n;  // one step is no loop
      });
    });
    thread_rows_ = sample_one_of(schedule_, thread_rows);
    thread_columns_ = sample_one_of(schedule_, thread_columns);
    row_tile_ = sample_one_of(schedule_, row_tiles);
    key_tile_ = sample_one_of(schedule_, key_tiles);
  }

  /// The loops of a block that reads the weights: over what is apart and blocks of rows, over steps of keys,
  /// and over the rows of a block (a thread's, and of a thread) and the keys of a step.
  struct Cut {
    std::vector<LoopRV> outer;
    LoopRV steps;
    std::vector<LoopRV> rows;
    LoopRV keys;
  };

  Cut cut(BlockRV block, size_t read) {
    const Access weights = schedule_.read_accesses(block).at(read);
    Cut made;
    for (size_t d = 0; d < axes_.dimensions.size(); ++d) {
      if (!weights.indices[d].iterator) refuse("the exponentials are not read element by element");
      const LoopRV loop = loop_of(schedule_, block, *weights.indices[d].iterator);
      if (axes_.dimensions[d] == axes_.row) {
        made.rows = schedule_.split(loop, {std::nullopt, thread_rows_, row_tile_});
      } else if (axes_.dimensions[d] == axes_.key) {
        const std::vector<LoopRV> keys = schedule_.split(loop, {std::nullopt, thread_columns_, key_tile_});
        made.steps = keys[0];
        made.keys = schedule_.fuse({keys[1], keys[2]});
      } else {
        made.outer.push_back(loop);
      }
    }
    made.outer.push_back(made.rows.front());
    made.rows.erase(made.rows.begin());
    return made;
  }

  /// Puts the block's loops in this order, and others, of one iteration, behind them.
  void arrange(BlockRV block, std::vector<LoopRV> order) {
    const auto listed = [&](LoopRV loop) {
      return std::ranges::any_of(
          order, [&](LoopRV one) { return schedule_.location(one) == schedule_.location(loop); });
    };
    for (const LoopRV loop : schedule_.get_loops(block)) {
      if (!listed(loop)) order.push_back(loop);
    }
    schedule_.reorder(order);
  }

  void cut_result() {
    const LoopRV column = loop_of(schedule_, result_, axes_.column);
    const Cut made = cut(result_, axes_.weights);
    const std::vector<LoopRV> columns = schedule_.split(column, {thread_columns_, std::nullopt});
    const std::vector<LoopRV> keys = schedule_.split(made.keys, {std::nullopt, kSteps});
    std::vector<LoopRV> order = made.outer;
    order.insert(order.end(),
                 {made.steps, made.rows[0], columns[0], keys[0], keys[1], made.rows[1], columns[1]});
    arrange(result_, order);
    schedule_.unroll(keys[1]);
    steps_ = made.steps;
  }

  /// Each step has a sum of its own. Both sums share the loops over steps.
  void cut_sum() {
    const Cut made = cut(sum_, 0);
    std::vector<LoopRV> order = made.outer;
    order.insert(order.end(), {made.steps, made.rows[0], made.rows[1], made.keys});
    arrange(sum_, order);
    schedule_.fuse(made.rows);
    sum_parts_ = schedule_.rfactor(made.steps, -1);
    outer_ = made.outer;
    steps_ = schedule_.merge({made.steps, schedule_.get_loops(sum_).at(outer_.size()), steps_});
  }

  /// Shares a block's rows and columns out over the threads.
  Tile tile(BlockRV block, LoopRV place) {
    const std::vector<LoopRV> loops = loops_inside(block, place);
    const std::vector<LoopRV> rows = schedule_.split(loops.at(0), {thread_rows_, std::nullopt});
    const std::vector<LoopRV> columns = schedule_.split(loops.at(1), {thread_columns_, std::nullopt});
    schedule_.reorder({rows[0], columns[0], rows[1], columns[1]});
    const Tile made{schedule_.fuse({rows[0], columns[0]}), rows[1], columns[1]};
    schedule_.bind(made.threads, places_.threads);
    for (const LoopRV loop : {made.rows, made.columns}) schedule_.unroll(loop);
    return made;
  }

  /// A thread computes its tile of the product in registers.
  void place_scores() {
    schedule_.compute_at(scores_, steps_);
    const Tile made = tile(scores_, steps_);
    schedule_.set_scope(scores_, 0, places_.own);
    schedule_.set_scope(product_, 0, places_.own);
    schedule_.compute_at(product_, made.threads);
    const std::vector<LoopRV> loops = loops_inside(product_, made.threads);
    const std::vector<LoopRV> steps = schedule_.split(loops.at(2), {std::nullopt, kSteps});
    schedule_.reorder({steps[0], steps[1], loops[0], loops[1]});
    const BlockRV init = schedule_.decompose_reduction(product_, steps[0]);
    for (const LoopRV loop : {steps[1], loops[0], loops[1]}) schedule_.unroll(loop);
    for (const LoopRV loop : loops_inside(init, made.threads)) schedule_.unroll(loop);
  }

  /// Each thread reduces its columns of a row; one combines the results.
  void reduce(BlockRV block) {
    const std::vector<LoopRV> loops = loops_inside(block, steps_);
    const std::vector<LoopRV> rows = schedule_.split(loops.at(0), {thread_rows_, std::nullopt});
    const std::vector<LoopRV> columns = schedule_.split(loops.at(1), {thread_columns_, std::nullopt});
    const BlockRV parts = schedule_.rfactor(columns[0], -1);
    schedule_.reorder({rows[0], columns[0], rows[1], columns[1]});
    const LoopRV threads = schedule_.fuse({rows[0], columns[0]});
    schedule_.decompose_reduction(parts, columns[1]);
    for (const LoopRV loop : {rows[1], columns[1]}) schedule_.unroll(loop);
    schedule_.bind(threads, places_.threads);
    schedule_.set_scope(parts, 0, places_.shared);
    const std::vector<LoopRV> rest = loops_inside(block, steps_);
    schedule_.bind(schedule_.fuse({rest.at(0), rest.at(1)}), places_.threads);
    schedule_.set_scope(block, 0, places_.shared);
  }

  void bind_rows(BlockRV block, size_t depth) {
    schedule_.bind(schedule_.get_loops(block).at(depth), places_.threads);
  }

  /// A thread has the scalars of a row.
  void share_rows(BlockRV block) {
    const std::vector<BlockRV> all = writers(block);
    for (const BlockRV each : all) bind_rows(each, outer_.size() + (each == all.front() ? 0 : 1));
    schedule_.set_scope(block, 0, places_.shared);
  }

  /// Results stay with the thread that has them, until it divides them.
  void share_result() {
    const std::vector<BlockRV> all = writers(result_);
    for (const BlockRV each : all) {
      const std::vector<LoopRV> loops = schedule_.get_loops(each);
      const size_t threads = outer_.size() + (each == all.front() ? 0 : 1);
      schedule_.bind(schedule_.fuse({loops.at(threads), loops.at(threads + 1)}), places_.threads);
      const size_t keys = each == all.back() ? 2 : 0;  // loops over them
      for (size_t i = threads + 2 + keys; i < loops.size(); ++i) schedule_.unroll(loops[i]);
    }
    schedule_.set_scope(result_, 0, places_.own);
    while (const Pointer<Block> next = element_reader(schedule_.program(), schedule_.block(end_)))
      schedule_.reverse_compute_inline(schedule_.get_block(next->name));
    schedule_.reverse_compute_at(end_, outer_.back());
    tile(end_, outer_.back());
  }

  /// All threads copy what they share: queries once, keys and values in each step. Of queries and keys,
  /// what a thread multiplies in one step lies together.
  void copy_operands() {
    const std::vector<Access> reads = schedule_.read_accesses(product_);
    const Access written = schedule_.writes_of(product_).front();
    for (size_t i = 0; i < reads.size(); ++i) {
      const bool keys = reads[i].uses(iterator_of(written, axes_.key));
      const size_t last = iterator_of(written, keys ? axes_.key : axes_.row);
      std::vector<size_t> order;
      for (size_t iterator = 0; iterator < schedule_.block(product_).iters().size(); ++iterator) {
        if (iterator != last && reads[i].uses(iterator)) order.push_back(iterator);
      }
      order.push_back(last);
      const std::string map = projection(axis_names(schedule_.block(product_).iters().size()), order);
      const BlockRV copy =
          schedule_.reindex_cache_read(product_, static_cast<int64_t>(i), places_.shared, map);
      fetch(copy, keys ? steps_ : outer_.back());
      const std::vector<LoopRV> loops = schedule_.get_loops(copy);
      schedule_.reorder({loops.back(), loops[loops.size() - 2]});
    }
    fetch(schedule_.cache_read(result_, static_cast<int64_t>(axes_.values), places_.shared), steps_);
  }

  /// The iterator of the product that becomes this axis of the exponentials.
  size_t iterator_of(const Access& written, size_t axis) const {
    const auto dimension = std::ranges::find(axes_.dimensions, axis) - axes_.dimensions.begin();
    if (written.indices.size() != axes_.dimensions.size() ||
        !written.indices[static_cast<size_t>(dimension)].iterator)
      refuse("the first product has other axes than the exponentials");
    return *written.indices[static_cast<size_t>(dimension)].iterator;
  }

  void fetch(BlockRV copy, LoopRV place) {
    schedule_.compute_at(copy, place);
    schedule_.annotate(copy, "cooperative_fetch", sample_one_of(schedule_, {1, 4}));
  }

  Schedule& schedule_;
  const Attention& found_;
  const ThreadPlaces& places_;
  const Choices& choices_;
  ResultAxes axes_;
  IntRV thread_rows_, thread_columns_, row_tile_, key_tile_;
  BlockRV result_, product_, scores_, maximum_, maximum_parts_, exponential_, sum_, sum_parts_, end_;
  std::vector<LoopRV> outer_;  // the last is over blocks of rows
  LoopRV steps_;               // over keys
};

class FusedAttention final : public TransformationModule {
 public:
  explicit FusedAttention(const Options& options)
      : choices_{options.get_ints("thread_rows"), options.get_ints("thread_columns"),
                 options.get_ints("row_tiles"), options.get_ints("key_tiles")} {}

  ModuleDescription description() const override {
    return {.makes = {"cooperative_fetch"}, .partners = {"cooperative_fetch"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const std::optional<ThreadPlaces> places = thread_places(context.execution());
    if (!places) return ModuleResult::not_applicable("the target has no threads that share memory");
    const Program program = schedule.program();
    const std::optional<Attention> found = find_attention(program, *program.find_block(block_name));
    if (!found) return ModuleResult::not_applicable("the block is no product of exponentials and values");
    Schedule fused = schedule.clone();
    try {
      Fusion(fused, *found, *places, choices_).run();
    } catch (const ScheduleMisuse&) {
      throw;
    } catch (const ScheduleError& refused) {
      return ModuleResult::not_applicable(refused.reason());
    }
    for (const Pointer<Block>& block : fused.program().blocks()) {
      if (!program.find_block(block->name) || found->has(block->name))
        context.claim(block->name, "it is part of an attention in one launch");
    }
    return ModuleResult::applied(std::move(fused));
  }

 private:
  Choices choices_;
};

}  // namespace

TUNESMITH_PLUGIN(FusedAttention, PluginKind::Module, "fused_attention", "0.1.0",
                 "compute attention in one launch: scores and results of some rows stay in registers",
                 OptionSpec::integers("thread_rows", {8, 16}, 1, 32, "choices for the threads along rows"),
                 OptionSpec::integers("thread_columns", {8, 16}, 2, 32,
                                      "choices for the threads along keys, and along columns of the result"),
                 OptionSpec::integers("row_tiles", {2, 4, 8}, 2, 16, "choices for the rows of a thread"),
                 OptionSpec::integers("key_tiles", {2, 4, 8}, 2, 16, "choices for the keys of a thread"));
