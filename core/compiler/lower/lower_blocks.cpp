#include <algorithm>

#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The outermost enclosing loop whose variable a reduction or opaque binding uses, or null.
const Loop* outermost_carrying_loop(const Block& block) {
  const Loop* outermost = nullptr;
  for (const Stmt* at = block.parent; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    const LoopUse use = use_of(*loop, block);
    if (use.reduction || use.opaque) outermost = loop;
  }
  return outermost;
}

Expr first_reduction_iteration(const Block& block) {
  Expr condition = bool_imm(true);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != IterKind::Reduction || block.iters[i].extent == 1) continue;
    condition = logical_and(condition, eq(block.bindings[i], 0));
  }
  return condition;
}

size_t uses_in(const Stmt& stmt, const Buffer& buffer) {
  size_t uses = 0;
  walk_accesses(stmt,
                [&](const Stmt&, const AccessSite& access) { uses += access.buffer == buffer ? 1 : 0; });
  return uses;
}

/// What a block inside `block` writes and nothing outside of it uses is made anew by each of its instances.
bool is_made_anew(const Program& program, const Block& block, const Store& store) {
  return enclosing_block(store) != &block &&
         uses_in(block, store.buffer) == uses_in(program.root(), store.buffer);
}

StmtPtr guarded(const Expr& condition, StmtPtr body) {
  if (is_const_int(condition, 1)) return body;
  return std::make_unique<If>(condition, std::move(body));
}

/// `block` is replaced in the tree and gone on return; blocks inside it have been lowered before.
void lower_block(Block& block) {
  const Substitution bindings = block.iters_at(block.bindings);
  auto body = std::make_unique<Seq>();
  if (StmtPtr init = block.take_init()) {
    substitute_in(*init, bindings);
    body->append(guarded(first_reduction_iteration(block), std::move(init)));
  }
  StmtPtr update = block.take_body();
  const auto intrinsic = block.annotations.find(kTensorIntrinsic);
  if (Loop* loop = update->as<Loop>(); loop != nullptr && intrinsic != block.annotations.end())
    loop->annotations.insert(*intrinsic);
  substitute_in(*update, bindings);
  body->append(std::move(update));
  replace(block, guarded(block.predicate, std::move(body)));
}

}  // namespace

BlockFacts lower_blocks(Program& program) {
  BlockFacts facts;
  std::vector<Block*> blocks = program.blocks();
  for (const Block* block : blocks) {
    const auto alignment = storage_alignment(*block);
    const bool doubled = block->annotations.contains(kDoubleBuffer);
    const Loop* loop = outermost_carrying_loop(*block);
    const bool swizzled = block->annotations.contains(kStorageSwizzle);
    if (!alignment && !swizzled && !doubled && loop == nullptr) continue;
    for (const Store* store : collect<Store>(*block)) {
      const Buffer& buffer = store->buffer;
      if (alignment) facts.aligned.push_back({buffer, *alignment});
      if (swizzled && !contains(facts.swizzled, buffer)) facts.swizzled.push_back(buffer);
      if (doubled && !contains(facts.doubled, buffer)) facts.doubled.push_back(buffer);
      if (loop != nullptr && !is_made_anew(program, *block, *store))
        facts.loop_carried.push_back({buffer, loop});
    }
  }
  // Inner blocks come after the blocks around them in text order, so going backwards lowers them first.
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) lower_block(**it);
  return facts;
}

}  // namespace tunesmith
