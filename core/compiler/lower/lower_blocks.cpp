#include <algorithm>

#include "tunesmith/affine/linear_form.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/extents.h"
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

/// True for a buffer that an inner block of `block` writes and only `block` uses: each instance of `block`
/// makes it anew.
bool is_made_anew(const Program& program, const Block& block, const Store& store) {
  return enclosing_block(store) != &block &&
         uses_in(block, store.buffer) == uses_in(program.root(), store.buffer);
}

StmtPtr guarded(const Expr& condition, StmtPtr body) {
  if (is_const_int(condition, 1)) return body;
  return std::make_unique<If>(condition, std::move(body));
}

std::vector<Expr> parts_for(const Stmt* stmt, const Block& block) {
  const Store* store = stmt == nullptr ? nullptr : stmt->as<Store>();
  if (store == nullptr) return {};
  std::vector<Expr> parts = conjuncts(existence(*store));
  std::erase_if(parts, [&](const Expr& part) {
    return !std::ranges::all_of(
        vars_of(part), [&](const Var& var) { return var->is_parameter() || block.iter_index(var) >= 0; });
  });
  return parts;
}

/// Does `known` hold wherever `stronger` holds, because its bound is never tighter?
bool follows(const Expr& known, const Expr& stronger, const Analyzer& analyzer) {
  const auto weak = slack_of(known, analyzer);
  const auto strong = slack_of(stronger, analyzer);
  return weak && strong && analyzer.bounds(weak->to_expr() - strong->to_expr()).min >= 0;
}

void add_to_predicate(Block& block, const std::vector<Expr>& parts) {
  if (parts.empty()) return;
  const Analyzer analyzer = Analyzer::at(block);
  const std::vector<Expr> added = substitute(parts, block.iters_at(block.bindings));
  Expr all = bool_imm(true);
  for (const Expr& known : conjuncts(block.predicate)) {
    if (std::ranges::none_of(added, [&](const Expr& part) { return follows(known, part, analyzer); }))
      all = logical_and(all, known);
  }
  for (const Expr& part : added) all = logical_and(all, part);
  block.predicate = all;
}

/// Guards each store by the existence of the elements that it accesses. Conditions that all stores share join
/// the block's predicate.
void guard_stores(Block& block) {
  std::vector<Expr> shared = parts_for(block.body(), block);
  if (block.init() != nullptr) {
    const std::vector<Expr> of_init = parts_for(block.init(), block);
    std::erase_if(shared, [&](const Expr& part) {
      return std::ranges::none_of(of_init, [&](const Expr& other) { return equal(part, other); });
    });
  }
  for (Store* store : collect<Store>(block)) {
    if (enclosing_block(*store) != &block) continue;
    Expr rest = bool_imm(true);
    for (const Expr& part : conjuncts(existence(*store))) {
      if (std::ranges::none_of(shared, [&](const Expr& other) { return equal(part, other); }))
        rest = logical_and(rest, part);
    }
    if (is_const_int(rest, 1)) continue;
    auto guard = std::make_unique<If>(rest, std::make_unique<Seq>());
    If& around = *guard;
    around.set_then(replace(*store, std::move(guard)));
  }
  add_to_predicate(block, shared);
}

/// Replaces `block` in the tree and deletes it; its inner blocks are already lowered.
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
  if (!program.parameters.empty()) {
    for (Block* block : blocks) guard_stores(*block);
  }
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
  // In text order inner blocks follow their outer blocks, so reverse order lowers inner blocks first.
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) lower_block(**it);
  return facts;
}

}  // namespace tunesmith
