#include "sketch_blocks.h"

#include <algorithm>

#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/flops.h"

namespace tunesmith {
namespace {

using Loops = std::vector<const Loop*>;

constexpr std::string_view kSampledPlace = "sample_compute_location";

void collect_work(const Stmt& stmt, double times, std::vector<BusyBlock>& found) {
  if (const Block* block = stmt.as<Block>()) {
    const bool holds_others =
        any_of_stmt(*block, [&](const Stmt& at) { return &at != block && at.kind == StmtKind::Block; });
    if (!holds_others) {
      found.push_back({block, times * count_flops(stmt)});
      return;
    }
  } else if (const Loop* loop = stmt.as<Loop>()) {
    times *= static_cast<double>(loop->const_extent());
  }
  visit_children(stmt, [&](const Stmt& child) { collect_work(child, times, found); });
}

/// The enclosing loops that run more than once.
Loops loops_of(const Block& block) {
  Loops loops;
  for (const Loop* loop : loops_above(block)) {
    if (loop->const_extent() > 1) loops.push_back(loop);
  }
  return loops;
}

/// Does an iterator have loops both outside and inside of another iterator's loop?
bool is_interleaved(const Block& block, Loops loops) {
  const auto drives = [&](const Loop* loop, size_t iter) {
    return uses_var(block.bindings[iter], loop->var);
  };
  std::erase_if(loops, [&](const Loop* loop) {
    for (size_t iter = 0; iter < block.iters.size(); ++iter) {
      if (drives(loop, iter)) return false;
    }
    return true;
  });
  for (size_t iter = 0; iter < block.iters.size(); ++iter) {
    const auto drives_it = [&](const Loop* loop) { return drives(loop, iter); };
    const auto begin = std::ranges::find_if(loops, drives_it);
    const auto end = std::find_if_not(begin, loops.end(), drives_it);
    if (std::any_of(end, loops.end(), drives_it)) return true;
  }
  return false;
}

/// Does it reduce, and read an element in several iterations?
bool reuses_reads(const Block& block) {
  return block.has_reduction() && std::ranges::any_of(reads_of(block), [&](const Access& read) {
           return std::ranges::any_of(block.iters, [&](const IterVar& iter) {
             return iter.kind == IterKind::Spatial && iter.extent > 1 &&
                    std::ranges::none_of(read.indices,
                                         [&](const Expr& index) { return uses_var(index, iter.var); });
           });
         });
}

}  // namespace

std::vector<BusyBlock> busy_blocks(const Program& program, double share) {
  std::vector<BusyBlock> found;
  collect_work(program.root(), 1.0, found);
  double all = 0.0;
  for (const BusyBlock& one : found) all += one.share;
  std::erase_if(found, [&](const BusyBlock& one) { return one.share <= share * all; });
  for (BusyBlock& one : found) one.share /= all;
  return found;
}

SketchBlocks::SketchBlocks(const Program& original, const Schedule& sketch, std::span<const SketchStep> steps)
    : original_(original), sketch_(sketch), steps_(steps) {}

const std::map<BlockId, std::string>& SketchBlocks::origins() const {
  if (origins_) return *origins_;
  origins_.emplace();
  for (const SketchStep& step : steps_) {
    if (step.block.empty()) continue;
    for (size_t i = step.begin; i < step.end; ++i) {
      const Instruction& instruction = sketch_.trace()[i];
      const ResultType result = instruction.kind->result();
      if (result != ResultType::Block && result != ResultType::Blocks) continue;
      for (const TraceVar& output : instruction.outputs)
        origins_->try_emplace(sketch_.block_id(BlockRV{output}), step.block);
    }
  }
  return *origins_;
}

const std::string& SketchBlocks::origin_of(const Block& block) const {
  const std::string* name = &block.name;
  // A block may be derived from a block that was itself derived.
  for (size_t i = 0; i <= steps_.size() && original_.find_block(*name) == nullptr; ++i) {
    const Block* const made = sketch_.program().find_block(*name);
    const auto origin = made == nullptr ? origins().end() : origins().find(made->id);
    if (origin == origins().end()) break;
    name = &origin->second;
  }
  return *name;
}

bool SketchBlocks::is_placed_by_search(const Block& block) const {
  return std::ranges::any_of(sketch_.sampling_points(), [&](const SamplingPoint& point) {
    if (point.kind->name() != kSampledPlace || point.kind->count(point.domain) < 2) return false;
    const TraceVar placed = std::get<TraceVar>(sketch_.trace()[point.position].args.front());
    return sketch_.block_id(BlockRV{placed}) == block.id;
  });
}

bool SketchBlocks::shares(const Loop& loop, const Block& block) const {
  return find_first<Block>(loop, [&](const Block& other) { return origin_of(other) != origin_of(block); }) !=
         nullptr;
}

bool SketchBlocks::shares_a_loop(const Block& block) const {
  return std::ranges::any_of(loops_of(block), [&](const Loop* loop) { return shares(*loop, block); });
}

bool SketchBlocks::is_in_parts(const Block& block) const {
  if (original_.find_block(block.name) == nullptr) return true;
  return find_first<Block>(sketch_.program().root(), [&](const Block& other) {
           return &other != &block && origin_of(other) == block.name;
         }) != nullptr;
}

bool SketchBlocks::is_plain_alone(const Block& block) const {
  if (is_in_parts(block) || is_interleaved(block, loops_of(block)) || is_placed_by_search(block) ||
      shares_a_loop(block))
    return false;
  const std::vector<Block*> producers = producers_of(sketch_.program(), block);
  if (std::ranges::any_of(producers, [&](const Block* one) { return is_placed_by_search(*one); }))
    return false;
  const auto is_other = [&](const Block* one) { return origin_of(*one) != block.name; };
  return std::ranges::any_of(producers, is_other) ||
         std::ranges::any_of(consumers_of(sketch_.program(), block), is_other);
}

bool SketchBlocks::gains_from_own_tiles(const Block& block) const {
  const Block* const origin = original_.find_block(origin_of(block));
  return origin != nullptr && needs_tiling(*origin) && reuses_reads(block);
}

bool SketchBlocks::is_plain(const Block& block) const {
  if (enclosing_block(block) != nullptr || block.annotations.contains(kTensorIntrinsic)) return false;
  if (!gains_from_own_tiles(block)) return is_plain_alone(block);
  Loops loops = loops_of(block);
  if (is_placed_by_search(block))
    std::erase_if(loops, [&](const Loop* loop) { return shares(*loop, block); });
  return !is_interleaved(block, std::move(loops));
}

bool SketchBlocks::is_open(const Block& block) const {
  const bool wants_tiles = gains_from_own_tiles(block);
  if (wants_tiles && !is_placed_by_search(block) && shares_a_loop(block)) return true;
  return std::ranges::any_of(sketch_.sampling_points(), [&](const SamplingPoint& point) {
    // The location of other blocks decides which locations there are.
    if (point.kind->name() == kSampledPlace) return !wants_tiles;
    return std::ranges::any_of(steps_, [&](const SketchStep& step) {
      return point.position >= step.begin && point.position < step.end &&
             (step.block == block.name || step.block == origin_of(block));
    });
  });
}

}  // namespace tunesmith
