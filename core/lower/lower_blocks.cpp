#include <algorithm>

#include "lower/passes.h"
#include "tunesmith/ir/annotation_keys.h"

namespace tunesmith {
namespace {

/// The outermost enclosing loop whose variable a reduction or opaque binding uses, or null.
const Loop* outermost_carrying_loop(const Block& block) {
  const Loop* outermost = nullptr;
  for (const Stmt* at = block.parent; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.iters[i].kind != IterKind::Spatial && uses_var(block.bindings[i], loop->var))
        outermost = loop;
    }
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
  for_each_stmt(stmt, [&](const Stmt& at) {
    const Store* store = at.as<Store>();
    if (store != nullptr && store->buffer == buffer) ++uses;
    for_each_expr(at, [&](const Expr& expr) {
      for_each(expr, [&](const Expr& part) {
        const LoadNode* access = part.as<LoadNode>();
        if (access != nullptr && access->buffer == buffer) ++uses;
      });
    });
  });
  return uses;
}

const Block& innermost_block(const Store& store) {
  const Stmt* at = &store;
  while (at->kind != StmtKind::Block) at = at->parent;
  return *at->as<Block>();
}

/// What a block inside `block` writes and nothing outside of it uses is made anew by each of its instances.
bool is_made_anew(const Program& program, const Block& block, const Store& store) {
  return &innermost_block(store) != &block &&
         uses_in(block, store.buffer) == uses_in(program.root(), store.buffer);
}

StmtPtr guarded(const Expr& condition, StmtPtr body) {
  if (is_const_int(condition, 1)) return body;
  return std::make_unique<If>(condition, std::move(body));
}

/// `block` is replaced in the tree and gone on return; blocks inside it have been lowered before.
void lower_block(Block& block) {
  Substitution bindings;
  for (size_t i = 0; i < block.iters.size(); ++i) bindings.set(block.iters[i].var, block.bindings[i]);
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
    if (const auto alignment = storage_alignment(*block)) {
      for_each_stmt(static_cast<const Stmt&>(*block), [&](const Stmt& stmt) {
        if (const Store* store = stmt.as<Store>()) facts.aligned.push_back({store->buffer, *alignment});
      });
    }
    if (block->annotations.contains(kDoubleBuffer)) {
      for_each_stmt(static_cast<const Stmt&>(*block), [&](const Stmt& stmt) {
        const Store* store = stmt.as<Store>();
        if (store != nullptr &&
            std::find(facts.doubled.begin(), facts.doubled.end(), store->buffer) == facts.doubled.end())
          facts.doubled.push_back(store->buffer);
      });
    }
    const Loop* loop = outermost_carrying_loop(*block);
    if (loop == nullptr) continue;
    for_each_stmt(static_cast<const Stmt&>(*block), [&](const Stmt& stmt) {
      const Store* store = stmt.as<Store>();
      if (store != nullptr && !is_made_anew(program, *block, *store))
        facts.carried.push_back({store->buffer, loop});
    });
  }
  // Inner blocks come after the blocks around them in text order, so going backwards lowers them first.
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) lower_block(**it);
  return facts;
}

}  // namespace tunesmith
