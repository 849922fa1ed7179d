#include <algorithm>

#include <fmt/format.h>

#include "affine/index_inverse.h"
#include "primitives/compute_location.h"
#include "primitives/primitives.h"
#include "primitives/shared/placement.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Checks conditions that do not depend on the loop.
std::optional<Refusal> producer_refusal(const Program& program, Block& block, Stage* stage) {
  if (auto refusal = stage_refusal(program, block, stage)) return refusal;
  if (!is_intermediate(program, stage->buffer))
    return Refusal{"the block writes an output of the program", stage->buffer->name, &block};
  if (stage->uses.readers.empty()) return Refusal{"the block has no consumer", block.name, &block};
  return std::nullopt;
}

/// The iterations of `stage` that write what its consumers read while the loops inside `loop` run.
std::vector<DimRange> needed_iterations(const Stage& stage, const Loop& loop, const Analyzer& analyzer) {
  const Block& block = *stage.block;
  std::optional<Region> needed;
  for (const Block* reader : stage.uses.readers) {
    const auto read = read_region(*reader, reader->bindings, stage.buffer, view_from(loop, *reader));
    if (read) needed = needed ? unite(*needed, *read, stage.buffer, analyzer) : *read;
  }
  if (const Store* store = body_store(block))
    return solve_iters(iter_domains(block), store->indices, *needed, analyzer);

  const std::vector<Access> writes = writes_of(block);
  Analyzer inner = analyzer;
  for (const Loop* inside : collect<Loop>(block)) inner.bind(*inside);
  if (writes.size() == 1) return solve_iters(iter_domains(block), writes[0].indices, *needed, inner);
  std::vector<DimRange> whole;
  for (const IterVar& iter : block.iters) whole.push_back({0, iter.extent});
  return whole;
}

std::optional<Refusal> location_refusal(const Program& program, const Stage& stage, Loop& loop,
                                        LoopNest* nest, Place* place) {
  if (auto refusal = target_refusal(stage, loop)) return refusal;
  for (const Block* reader : stage.uses.readers) {
    if (!is_ancestor(loop, *reader))
      return Refusal{"a consumer stands outside the loop", reader->name, reader};
  }
  *place = {&loop, &statement_towards(loop, *stage.uses.readers[0]), false};
  Analyzer analyzer = Analyzer::at(*loop.body());
  *nest = make_nest(*stage.block, needed_iterations(stage, loop, analyzer), analyzer);
  return inputs_refusal(program, stage, *nest, *place, analyzer, {});
}

}  // namespace

void compute_at(Program& program, BlockId block_id, LoopId loop_id) {
  Block& block = block_at(program, block_id, "compute_at");
  if (loop_id == kRootLocation) return;
  if (loop_id == kInlineLocation) return compute_inline(program, block_id);
  Loop& loop = loop_at(program, loop_id, "compute_at");
  Stage stage;
  throw_refusal("compute_at", program, producer_refusal(program, block, &stage));
  LoopNest nest;
  Place place;
  throw_refusal("compute_at", program, location_refusal(program, stage, loop, &nest, &place));
  move_block(program, block, std::move(nest), place);
}

std::vector<int64_t> legal_compute_depths(const Program& program, BlockId id) {
  std::vector<int64_t> legal;
  Block* block = program.find_block(id);
  Stage stage;
  if (block == nullptr || producer_refusal(program, *block, &stage)) return legal;
  const auto& readers = stage.uses.readers;
  const std::vector<Loop*> loops = loops_above(*readers[0]);
  for (size_t depth = 0; depth < loops.size(); ++depth) {
    Loop* loop = loops[depth];
    const bool reduces = std::any_of(readers.begin(), readers.end(), [&](const Block* reader) {
      return reduction_loop_around(*reader, *loop) != nullptr;
    });
    if (reduces) break;
    LoopNest nest;
    Place place;
    if (!location_refusal(program, stage, *loop, &nest, &place)) legal.push_back(static_cast<int64_t>(depth));
  }
  return legal;
}

LoopId loop_at_depth(const Program& program, BlockId id, int64_t depth) {
  Stage stage;
  const auto refusal = producer_refusal(program, block_at(program, id, "compute_at"), &stage);
  check_invariant(!refusal, "a block that has a legal location can move");
  return loops_above(*stage.uses.readers[0]).at(static_cast<size_t>(depth))->id;
}

KindPtr compute_at_kind() { return make_transformation("compute_at", compute_at, {"block", "loop"}); }

void Schedule::compute_at(BlockRV block, LoopRV loop) { execute(kind("compute_at"), {block, loop}); }

}  // namespace tunesmith
