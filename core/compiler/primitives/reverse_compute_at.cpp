#include <algorithm>

#include <fmt/format.h>

#include "affine/index_inverse.h"
#include "primitives/primitives.h"
#include "primitives/shared/placement.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// A buffer, and the region of it that one iteration of the loop completes.
struct Made {
  Buffer buffer;
  Region region;
  std::vector<Expr> conditions;  // on the fixed loops, without which nothing is written
};

struct Move {
  Place place;
  LoopNest nest;
};

/// The buffers that the block reads and blocks below the loop write.
std::optional<Refusal> find_made(const Program& program, const Stage& stage, Loop& loop,
                                 std::vector<Made>* made, Block** last) {
  for (const Buffer& buffer : buffers_read(*stage.block)) {
    const std::vector<Block*> writers = uses_of(program, buffer, stage.scope).writers;
    if (writers.empty() || !is_ancestor(loop, *writers.back())) continue;
    Block& writer = *writers.back();
    if (has_opaque_iter(writer))
      return Refusal{"an input of the block is produced in a fixed order", writer.name, &writer};
    if (const Loop* carrying = reduction_loop_around(writer, loop))
      return Refusal{"the loop does not finish what the block reads",
                     fmt::format("{} accumulates over {}", writer.name, carrying->var->name), &writer};
    Made one{buffer, {}, {}};
    auto region = written_region(writer, buffer, loop, &one.conditions);
    // If there are other writers, the last one must overwrite all that they write.
    if (!region || (writers.size() > 1 && !writes_everything(writer, buffer)))
      return Refusal{"cannot determine what an iteration of the loop writes", writer.name, &writer};
    one.region = std::move(*region);
    made->push_back(std::move(one));
    if (*last == nullptr || precedes(**last, writer)) *last = &writer;
  }
  if (made->empty())
    return Refusal{"no producer of the block stands under the loop", stage.block->name, stage.block};
  return std::nullopt;
}

/// The iterations that read what one iteration of the loop writes, by the access that bounds the most
/// iterators.
std::vector<DimRange> iterations_of(const Block& block, const std::vector<Access>& reads,
                                    const std::vector<Made>& made, const Analyzer& analyzer,
                                    const Made** told_by, const Access** access) {
  std::vector<DimRange> best;
  int64_t best_bounded = -1;
  for (const Made& one : made) {
    for (const Access& read : reads) {
      if (read.buffer != one.buffer) continue;
      std::vector<DimRange> ranges = solve_iters(iter_domains(block), read.indices, one.region, analyzer);
      int64_t bounded = 0;
      for (size_t i = 0; i < ranges.size(); ++i) bounded += ranges[i].extent < block.iters[i].extent;
      if (bounded <= best_bounded) continue;
      best_bounded = bounded;
      best = std::move(ranges);
      *told_by = &one;
      *access = &read;
    }
  }
  return best;
}

/// Does every iteration of the block read an element? The element determines where it runs.
bool always_reads(const Block& block, const Access& access) {
  Analyzer domains;
  domains.bind(block);
  for (const Loop* loop : collect<Loop>(block)) domains.bind(*loop);
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const Interval range = domains.bounds(access.indices[d]);
    if (range.min < 0 || range.max >= access.buffer->shape[d]) return false;
  }
  return true;
}

/// Requires that no iteration runs twice, if that would change the result.
std::optional<Refusal> repetition_refusal(const Stage& stage, const LoopNest& nest, const Loop& loop) {
  bool matters = stage.block->has_reduction();
  std::vector<IterDomain> domains = nest.loops;
  for (const Stmt* at = &loop; at != nullptr && at->kind != StmtKind::Block; at = at->parent) {
    const Loop* around = at->as<Loop>();
    if (around == nullptr) continue;
    domains.push_back({around->var, around->const_extent()});
    matters = matters || (around->loop_kind != LoopKind::Serial && around->loop_kind != LoopKind::Unrolled);
  }
  if (!matters ||
      check_iter_map(nest.bindings, iter_extents(*stage.block), domains, bool_imm(true)).injective)
    return std::nullopt;
  return Refusal{"iterations of the block would run more than once", stage.block->name, stage.block};
}

std::optional<Refusal> plan_refusal(const Program& program, const Stage& stage, Loop& loop, Move* move) {
  if (auto refusal = target_refusal(stage, loop)) return refusal;
  const Block& block = *stage.block;
  std::vector<Made> made;
  Block* last = nullptr;
  if (auto refusal = find_made(program, stage, loop, &made, &last)) return refusal;
  move->place = {&loop, &statement_towards(loop, *last), true};
  for (const Block* reader : stage.uses.readers) {
    if (!precedes(*move->place.anchor, *reader))
      return Refusal{"a consumer of the block would stand before it", reader->name, reader};
  }

  Analyzer analyzer = Analyzer::at(*loop.body());
  const std::vector<Access> reads = reads_of(block);
  const Made* told_by = nullptr;
  const Access* access = nullptr;
  const std::vector<DimRange> ranges = iterations_of(block, reads, made, analyzer, &told_by, &access);
  if (!always_reads(block, *access))
    return Refusal{"the block has iterations that read nothing of its producer", block.name, &block};
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (block.iters[i].kind != IterKind::Spatial && ranges[i].extent < block.iters[i].extent)
      return Refusal{"an iteration of the loop gives a part of the block's reduction",
                     block.iters[i].var->name, &block};
  }
  move->nest = make_nest(block, ranges, analyzer);

  Viewpoint view{{}, analyzer};
  for (const auto& [var, extent] : move->nest.loops) view.moving.push_back(var);
  for (const Made& one : made) {
    const auto read = read_region(block, move->nest.bindings, one.buffer, view);
    if (!covers_within(one.region, *read, one.buffer, analyzer))
      return Refusal{"the block reads more than an iteration of the loop writes", one.buffer->name, &block};
    for (const Expr& condition : one.conditions) {
      const auto& known = told_by->conditions;
      const bool holds =
          std::any_of(known.begin(), known.end(), [&](const Expr& other) { return equal(condition, other); });
      if (!holds)
        return Refusal{"producers of the block run under different conditions", one.buffer->name, &block};
    }
  }
  for (const Expr& condition : told_by->conditions)
    move->nest.predicate = logical_and(move->nest.predicate, condition);
  if (auto refusal = repetition_refusal(stage, move->nest, loop)) return refusal;
  std::vector<Buffer> checked;
  for (const Made& one : made) checked.push_back(one.buffer);
  return inputs_refusal(program, stage, move->nest, move->place, analyzer, checked);
}

}  // namespace

void reverse_compute_at(Program& program, BlockId block_id, LoopId loop_id) {
  Block& block = block_at(program, block_id, "reverse_compute_at");
  if (loop_id == kRootLocation) return;
  if (loop_id == kInlineLocation) return reverse_compute_inline(program, block_id);
  Loop& loop = loop_at(program, loop_id, "reverse_compute_at");
  const Stage stage = require_stage(program, block, "reverse_compute_at");
  Move move;
  throw_refusal("reverse_compute_at", program, plan_refusal(program, stage, loop, &move));
  move_block(program, block, std::move(move.nest), move.place);
}

KindPtr reverse_compute_at_kind() {
  return make_transformation("reverse_compute_at", reverse_compute_at, {"block", "loop"});
}

void Schedule::reverse_compute_at(BlockRV block, LoopRV loop) {
  execute(kind("reverse_compute_at"), {block, loop});
}

}  // namespace tunesmith
