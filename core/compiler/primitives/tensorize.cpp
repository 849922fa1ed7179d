#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Rebuilds the nest in the body of `block` (a single block under loops) as new loops around the bare store,
/// which invalidates handles of the old loops; also returns that block's annotations.
std::pair<StmtPtr, Annotations> bare_nest(Program& program, Block& block) {
  const auto refuse = [&](std::string_view reason, const Stmt* place) {
    throw ScheduleError("tensorize", reason, block.name, program, place);
  };
  std::vector<Loop*> loops;
  Stmt* at = block.body();
  while (Loop* loop = at->as<Loop>()) {
    if (loop->loop_kind != LoopKind::Serial) refuse("a loop of the tile is not serial", loop);
    loops.push_back(loop);
    at = loop->body();
  }
  Block* inner = at->as<Block>();
  if (inner == nullptr) refuse("the block does not hold one block under loops", &block);
  const Store* store = body_store(*inner);
  if (store == nullptr || store->mask) refuse("the body of the block is not one store", inner);
  if (inner->init() != nullptr) refuse("the block initializes itself", inner);
  if (!is_const_int(inner->predicate, 1)) refuse("the block has a condition", inner);
  if (block.init() != nullptr) refuse("the block initializes itself", &block);

  const Substitution fresh = fresh_vars(loops);
  StmtPtr nest = inner->body()->clone();
  substitute_in(*nest, inner->iters_at(substitute(inner->bindings, fresh)));
  return {copy_loops(program, loops, fresh, std::move(nest)), inner->annotations};
}

}  // namespace

BlockId tensorize(Program& program, BlockId id, std::string_view name, const TensorIntrinsics& intrinsics) {
  Block& block = block_at(program, id, "tensorize");
  const TensorIntrinsicPtr intrinsic = intrinsics.find(name);
  if (intrinsic == nullptr) {
    throw ScheduleError("tensorize", "unknown tensor intrinsic",
                        fmt::format("'{}'; known: {}", name, fmt::join(intrinsics.names(), ", ")), program,
                        &block);
  }
  throw_refusal("tensorize", program, varying_refusal(block));
  auto [nest, annotations] = bare_nest(program, block);
  StmtPtr old = block.take_body();
  block.set_body(std::move(nest));
  std::string_view why = "the block computes something else";
  const auto loops = store_nest(*block.body());
  if (!loops || !match_intrinsic(*intrinsic, *loops, program, false, &why)) {
    nest = block.take_body();
    block.set_body(std::move(old));
    throw ScheduleError("tensorize", why, std::string(name), program, &block);
  }
  // Storage alignment and swizzle are annotations of the writing block, which is this one now.
  block.annotations.merge(annotations);
  block.annotations[kTensorIntrinsic] = std::string(name);
  return block.id;
}

BlockId tensorize(Program& program, LoopId loop, std::string_view name, const TensorIntrinsics& intrinsics) {
  return tensorize(program, blockize(program, loop), name, intrinsics);
}

KindPtr tensorize_kind() {
  return make_transformation(
      "tensorize",
      {{{"target", ParamType::LoopOrBlock}, {"intrinsic", ParamType::String}},
       ResultType::Block,
       [](Program& program, const Arguments& args) -> std::vector<Value> {
         if (std::holds_alternative<LoopId>(args[0]))
           return {tensorize(program, args.loop(0), args.string(1), args.intrinsics())};
         return {tensorize(program, args.block(0), args.string(1), args.intrinsics())};
       }},
      /*keeps_on_throw=*/false);
}

BlockRV Schedule::tensorize(LoopRV loop, std::string_view intrinsic) {
  return as_handle<BlockRV>(execute(kind("tensorize"), {loop, std::string(intrinsic)}));
}
BlockRV Schedule::tensorize(BlockRV block, std::string_view intrinsic) {
  return as_handle<BlockRV>(execute(kind("tensorize"), {block, std::string(intrinsic)}));
}

}  // namespace tunesmith
