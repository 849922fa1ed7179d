#include "row_block.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/sampled_tiles.h>

namespace tunesmith {
namespace {

LoopRV fused(Schedule& schedule, const std::vector<LoopRV>& loops) {
  return loops.size() > 1 ? schedule.fuse(loops) : loops.front();
}

/// The stages and their partial results, in text order.
std::vector<BlockRV> blocks_of(const RowStage& stage) {
  std::vector<BlockRV> blocks = stage.partials;
  blocks.push_back(stage.block);
  return blocks;
}

/// Keeps a row's scalars in registers.
void keep_scalars(Schedule& schedule, const Chain& chain, const RowStage& stage) {
  const Block block = schedule.block(stage.block);
  if (writes_output(schedule.program(), block) || block.name == chain.members.back()) return;
  const std::vector<IterVar> iters = block.iters();
  for (size_t i = 0; i < iters.size(); ++i) {
    const bool is_row = std::ranges::find(stage.rows, i) != stage.rows.end();
    if (!is_row && iters[i].kind == IterKind::Spatial && iters[i].extent > 1) return;
  }
  schedule.set_scope(stage.block, 0, "local");
}

/// Does it read data along the row that is already in memory?
bool streams(const Schedule& schedule, BlockRV block) {
  const Program program = schedule.program();
  const Block view = schedule.block(block);
  for (const Access& read : read_accesses(view)) {
    const bool made = std::ranges::any_of(program.blocks(), [&](const Pointer<Block>& other) {
      return std::ranges::any_of(
          writes_of(*other), [&](const Access& write) { return write.buffer->name == read.buffer->name; });
    });
    if (!made && read.buffer->shape.size() > 1) return true;
  }
  return false;
}

/// The last streaming stage before the end, or else the end: earlier stages have fetched the row by then.
std::optional<BlockRV> fetching_block(const Schedule& schedule, const std::vector<RowStage>& stages) {
  std::vector<BlockRV> streaming;
  for (const RowStage& stage : stages) {
    const BlockRV first = blocks_of(stage).front();
    if (streams(schedule, first)) streaming.push_back(first);
  }
  if (streaming.empty()) return std::nullopt;
  const bool only_the_end = streaming.size() == 1 || streaming.back() != stages.back().block;
  return only_the_end ? streaming.back() : streaming[streaming.size() - 2];
}

void prefetch(Schedule& schedule, BlockRV block, const std::vector<int64_t>& distances) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopFacts> facts = schedule.loops_of(block);
  for (size_t i = loops.size(); i-- > 1;) {
    if (facts[i].kind != LoopKind::Serial || facts[i].extent == 1) continue;
    schedule.annotate(loops[i], "prefetch", sample_one_of(schedule, distances));
    return;
  }
}

/// Lets the stores of a large output, which no private cache holds, bypass the caches.
void choose_stores(Schedule& schedule, LoopRV parallel, const Chain& chain, const RowBlockChoices& choices) {
  const Program program = schedule.program();
  const Block end = *program.find_block(chain.members.back());
  if (end.has_reduction() || !writes_output(program, end) || !consumers_of(program, end).empty()) return;
  const Buffer output = writes_of(end).front().buffer;
  const int64_t bytes = std::accumulate(output->shape.begin(), output->shape.end(),
                                        int64_t{output->dtype.bytes()}, std::multiplies());
  if (bytes > choices.private_cache_bytes)
    schedule.annotate(parallel, "nontemporal", sample_one_of(schedule, {0, 1}));
}

/// The number of row tiles in a row block, with weights: sizes that fit the
/// first-level cache, and that the cores share evenly, are more likely.
struct BlockSizes {
  std::vector<int64_t> counts;
  std::vector<double> weights;
};

/// Does the last tile exceed the last row?
bool is_ragged(int64_t extent, const TileShape& shape) { return extent % shape.rows != 0; }

BlockSizes block_sizes(const Chain& chain, const RowBlockChoices& choices, int64_t extent,
                       const TileShape& shape) {
  BlockSizes sizes;
  const int64_t tiles = (extent + shape.rows - 1) / shape.rows;
  const int64_t max_bytes = chain.has_products() ? choices.block_bytes : choices.first_cache_bytes;
  for (int64_t count = shape.rows > 1 ? 1 : 2; count <= tiles; ++count) {
    const int64_t bytes = count * shape.rows * chain.working_bytes();
    const int64_t blocks = chain.row_count / extent * ((tiles + count - 1) / count);
    if ((tiles % count != 0 && !is_ragged(extent, shape)) ||
        (count > 1 && (bytes > max_bytes || blocks < choices.cores)))
      continue;
    sizes.counts.push_back(count);
    sizes.weights.push_back((bytes <= choices.first_cache_bytes ? 2.0 : 1.0) *
                            (blocks % choices.cores == 0 ? 4.0 : 1.0));
  }
  return sizes;
}

class RowBlocks {
 public:
  RowBlocks(Schedule& schedule, const Chain& chain, const RowBlockChoices& choices, const TileShape& shape)
      : schedule_(schedule), chain_(chain), choices_(choices), shape_(shape) {}

  std::vector<BlockRV> run() {
    stages_ = factor_reductions(schedule_, chain_, chain_.row_part(), choices_.row);
    if (!chain_.first_product.empty()) prepare_first();
    if (!chain_.last_product.empty()) {
      last_ = schedule_.get_block(chain_.last_product);
      lay_operand_of(*last_, chain_.last_product);
      last_writer_ = writer_of(*last_, chain_.last_writer);
    }
    const LoopRV block_loop = last_ ? open_at_product() : open_at_row_part();  // where all is computed
    place_row_part(block_loop);
    if (first_) tile_first(block_loop);
    for (const RowStage& stage : stages_) {
      note(blocks_of(stage));
      note(finish_stage(schedule_, stage, choices_.row));
    }
    if (cut_) {
      run_in_pieces();
      return made_;
    }
    schedule_.parallel(block_loop);
    if (!last_) choose_stores(schedule_, block_loop, chain_, choices_);
    return made_;
  }

 private:
  void note(const std::vector<BlockRV>& blocks) { made_.insert(made_.end(), blocks.begin(), blocks.end()); }

  BlockRV writer_of(BlockRV product, const std::string& writer) {
    note({product});
    if (writer.empty()) {
      const BlockRV copy = schedule_.cache_write(product, 0, "local");
      note({copy});
      return copy;
    }
    schedule_.set_scope(product, 0, "local");
    note({schedule_.get_block(writer)});
    return schedule_.get_block(writer);
  }

  void lay_operand_of(BlockRV product, const std::string& name) {
    if (const auto panels = lay_operand(schedule_, product, chain_.rows.at(name), shape_)) note({*panels});
  }

  void prepare_first() {
    first_ = schedule_.get_block(chain_.first_product);
    lay_operand_of(*first_, chain_.first_product);
    first_writer_ = writer_of(*first_, chain_.first_writer);
  }

  /// Splits the writer's rows, cutting off the partial last block; returns the loop over row blocks.
  LoopRV open_at_product() {
    const std::vector<size_t>& rows =
        chain_.rows.at(chain_.last_writer.empty() ? chain_.last_product : chain_.last_writer);
    RowsFirst order = rows_first(schedule_, *last_writer_, rows);
    const int64_t extent = schedule_.facts(order.rows.back()).extent;
    const std::vector<LoopRV> parts =
        schedule_.split(order.rows.back(), {std::nullopt, choose_tiles(extent), shape_.rows});
    const std::vector<LoopRV> columns =
        schedule_.split(order.others.back(), {std::nullopt, shape_.columns()});
    std::vector<LoopRV> outer(order.rows.begin(), order.rows.end() - 1);
    outer.push_back(parts[0]);
    schedule_.reorder({columns[0], parts[1], parts[2], columns[1]});
    const LoopRV block_loop = around_block(outer, extent);
    note({tile_product(schedule_, *last_, parts[1], shape_, choices_.steps)});
    finish_writer(schedule_, parts[2], columns[1]);
    return block_loop;
  }

  /// The number of tiles per row block: sampled, except for ragged ones. These are cut at a place that
  /// depends on it, so it is chosen here: equal work for the cores as far as possible, in few blocks.
  IntArg choose_tiles(int64_t extent) {
    const BlockSizes sizes = block_sizes(chain_, choices_, extent, shape_);
    if (is_ragged(extent, shape_)) {
      const auto rows_of_a_core = [&](int64_t count) {
        const int64_t rows = count * shape_.rows;
        const int64_t blocks = chain_.row_count / extent * ((extent + rows - 1) / rows);
        return (blocks + choices_.cores - 1) / choices_.cores * rows;
      };
      return *std::ranges::min_element(sizes.counts.rbegin(), sizes.counts.rend(), {}, rows_of_a_core);
    }
    return sample_weighted(schedule_, sizes.counts, sizes.weights);
  }

  LoopRV open_at_row_part() {
    const RowStage& end = stages_.back();
    const RowsFirst order = rows_first(schedule_, end.block, end.rows);
    const int64_t extent = schedule_.facts(order.rows.back()).extent;
    const std::vector<LoopRV> parts =
        schedule_.split(order.rows.back(), {std::nullopt, choose_tiles(extent), shape_.rows});
    schedule_.fuse({parts[1], parts[2]});
    std::vector<LoopRV> outer(order.rows.begin(), order.rows.end() - 1);
    outer.push_back(parts[0]);
    return around_block(outer, extent);
  }

  /// The loop in which a block is computed; the last of `outer` is over blocks. If the
  /// last block exceeds the rows, that loop becomes outermost, and is cut at the end.
  LoopRV around_block(std::vector<LoopRV> outer, int64_t extent) {
    if (!is_ragged(extent, shape_)) return fused(schedule_, outer);
    const LoopRV blocks = outer.back();
    outer.pop_back();
    cut_ = Cut{blocks, schedule_.facts(blocks).extent - 1, outer.empty() ? 1U : 2U};
    if (outer.empty()) return blocks;
    const LoopRV others = fused(schedule_, outer);
    schedule_.reorder({blocks, others});
    return others;
  }

  /// First all whole blocks, then the ragged ones, whose tiles may be cut at the last row.
  void run_in_pieces() {
    std::set<std::string> before;
    for (const Pointer<Block>& block : schedule_.program().blocks()) before.insert(block->name);
    std::vector<LoopRV> pieces{cut_->blocks};
    if (cut_->whole > 0) pieces = schedule_.loop_partition(cut_->blocks, {cut_->whole});
    for (const LoopRV& piece : pieces) {
      std::vector<LoopRV> nest = schedule_.get_loops(schedule_.get_child_blocks(piece).front());
      nest.resize(cut_->nested);
      schedule_.parallel(fused(schedule_, nest));
    }
    for (const Pointer<Block>& block : schedule_.program().blocks()) {
      if (!before.contains(block->name)) note({schedule_.get_block(block->name)});
    }
  }

  void place_row_part(LoopRV block_loop) {
    for (size_t i = stages_.size(); i-- > 0;) {
      const RowStage& stage = stages_[i];
      const bool is_end = !last_ && i + 1 == stages_.size();
      if (!is_end) schedule_.compute_at(stage.block, block_loop);
      if (stage.partials.empty()) continue;
      const LoopRV row = innermost_row(stage);
      for (size_t p = stage.partials.size(); p-- > 0;) schedule_.compute_at(stage.partials[p], row);
    }
  }

  LoopRV innermost_row(const RowStage& stage) {
    const std::vector<bool> of_rows = loops_of_rows(schedule_, stage.block, stage.rows);
    const auto last = std::ranges::find(of_rows.rbegin(), of_rows.rend(), true);
    return schedule_.get_loops(stage.block)[static_cast<size_t>(of_rows.rend() - last) - 1];
  }

  void tile_first(LoopRV block_loop) {
    schedule_.compute_at(*first_writer_, block_loop);
    const std::vector<LoopRV> loops = schedule_.get_loops(*first_writer_);
    const LoopRV row = loops[loops.size() - 2];
    const std::vector<LoopRV> rows = schedule_.split(row, {std::nullopt, shape_.rows});
    const std::vector<LoopRV> columns = schedule_.split(loops.back(), {std::nullopt, shape_.columns()});
    schedule_.reorder({columns[0], rows[0], rows[1], columns[1]});
    note({tile_product(schedule_, *first_, rows[0], shape_, choices_.steps)});
    finish_writer(schedule_, rows[1], columns[1]);
  }

  struct Cut {
    LoopRV blocks;
    int64_t whole;  // number of whole blocks
    size_t nested;  // number of fused parallel loops
  };

  Schedule& schedule_;
  const Chain& chain_;
  const RowBlockChoices& choices_;
  const TileShape& shape_;
  std::optional<Cut> cut_;
  std::vector<RowStage> stages_;
  std::optional<BlockRV> first_;
  std::optional<BlockRV> first_writer_;
  std::optional<BlockRV> last_;
  std::optional<BlockRV> last_writer_;
  std::vector<BlockRV> made_;
};

}  // namespace

std::vector<BlockRV> compute_at_rows(Schedule& schedule, const Chain& chain, const RowBlockChoices& choices,
                                     bool prefetches) {
  const std::vector<RowStage> stages = factor_reductions(schedule, chain, chain.members, choices.row);
  const LoopRV row = fused(schedule, rows_first(schedule, stages.back().block, stages.back().rows).rows);
  std::vector<BlockRV> made;
  for (size_t i = stages.size(); i-- > 0;) {
    const std::vector<BlockRV> blocks = blocks_of(stages[i]);
    made.insert(made.end(), blocks.begin(), blocks.end());
    for (size_t b = blocks.size(); b-- > 0;) {
      if (blocks[b] != stages.back().block) schedule.compute_at(blocks[b], row);
    }
  }
  std::optional<BlockRV> fetching;
  if (prefetches) fetching = fetching_block(schedule, stages);
  for (const RowStage& stage : stages) {
    keep_scalars(schedule, chain, stage);
    const std::vector<BlockRV> inits = finish_stage(schedule, stage, choices.row);
    made.insert(made.end(), inits.begin(), inits.end());
  }
  schedule.parallel(row);
  choose_stores(schedule, row, chain, choices);
  if (fetching) prefetch(schedule, *fetching, choices.prefetch);
  return made;
}

std::vector<BlockRV> compute_at_row_blocks(Schedule& schedule, const Chain& chain,
                                           const RowBlockChoices& choices, const TileShape& shape) {
  if (!chain.has_products()) {
    const std::string& end = chain.members.back();
    const std::vector<IterVar> iters = schedule.block(schedule.get_block(end)).iters();
    if (block_sizes(chain, choices, iters[chain.rows.at(end).back()].extent, shape).counts.empty()) return {};
  }
  return RowBlocks(schedule, chain, choices, shape).run();
}

}  // namespace tunesmith
