#include <algorithm>

#include <fmt/format.h>

#include "primitives/primitives.h"
#include "primitives/shared/block_piece.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {
namespace {

struct LoopPart {
  LoopPiece range;
  std::vector<BlockPiece> blocks;  // in text order
};

std::optional<Refusal> plan_refusal(Loop& loop, std::span<const int64_t> points,
                                    std::vector<LoopPart>* parts) {
  const int64_t extent = loop.const_extent();
  if (points.empty()) return Refusal{"there are no points", "", &loop};
  int64_t begin = 0;
  for (size_t i = 0; i <= points.size(); ++i) {
    const int64_t end = i < points.size() ? points[i] : extent;
    if (end <= begin || end > extent)
      return Refusal{"the points are not increasing within the loop's range",
                     fmt::format("{} after {}, extent {}", end, begin, extent), &loop};
    parts->push_back({{&loop, begin, end}, {}});
    begin = end;
  }
  for (LoopPart& part : *parts) {
    std::optional<Refusal> refusal;
    bool empty = true;
    for_each_outer_block(loop, [&](const Block& block) {
      if (refusal.has_value()) return;
      part.blocks.emplace_back();
      refusal = block_piece_refusal(block, part.range, &part.blocks.back());
      empty = empty && !part.blocks.back().runs;
    });
    if (refusal.has_value()) return refusal;
    if (empty)
      return Refusal{"nothing runs in a piece", fmt::format("[{}, {})", part.range.begin, part.range.end),
                     &loop};
  }
  // A read that never happens may still name a buffer that would have no writer.
  size_t number = 0;
  std::optional<Refusal> refusal;
  for_each_outer_block(loop, [&](const Block& block) {
    const size_t at = number++;
    if (std::ranges::none_of(*parts, [&](const LoopPart& part) { return part.blocks[at].runs; }))
      refusal = Refusal{"a block runs in no piece", block.name, &block};
  });
  return refusal;
}

void specialise(Loop& loop, const LoopPart& part, const Substitution& fresh) {
  std::vector<Block*> blocks;
  for_each_outer_block(loop, [&](Block& block) { blocks.push_back(&block); });
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (part.blocks[i].runs) {
      apply_piece(*blocks[i], part.blocks[i], fresh);
    } else {
      take_out(*blocks[i]);
    }
  }
}

}  // namespace

std::vector<LoopId> loop_partition(Program& program, LoopId loop_id, std::span<const int64_t> points) {
  Loop& loop = loop_at(program, loop_id, "loop_partition");
  require_plain_loop(program, loop, "loop_partition");
  std::vector<LoopPart> parts;
  throw_refusal("loop_partition", program, plan_refusal(loop, points, &parts));

  std::vector<LoopId> ids(parts.size(), loop.id);
  Loop* last = &loop;
  for (size_t i = 1; i < parts.size(); ++i) {
    Substitution fresh;
    StmtPtr copy = fresh_copy(program, loop, &fresh);
    Loop& piece = *copy->as<Loop>();
    piece.extent = parts[i].range.end - parts[i].range.begin;
    ids[i] = piece.id;
    insert_after(*last, std::move(copy));
    last = &piece;
    specialise(piece, parts[i], fresh);
  }
  loop.extent = parts[0].range.end;
  specialise(loop, parts[0], {});
  return ids;
}

KindPtr loop_partition_kind() {
  return make_transformation("loop_partition", loop_partition, {"loop", "points"});
}

std::vector<LoopRV> Schedule::loop_partition(LoopRV loop, const std::vector<IntArg>& points) {
  return as_handles<LoopRV>(execute(kind("loop_partition"), {loop, as_arg(points)}));
}

}  // namespace tunesmith
