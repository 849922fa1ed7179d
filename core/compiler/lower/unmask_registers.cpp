#include <algorithm>
#include <map>

#include "lower/masks.h"
#include "lower/slices.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxStores = 1024;

/// The conditions inside `site` under which a store runs; null if there are none. Each If contains nothing
/// else.
struct Guard {
  bool known = true;
  Expr condition;
  std::vector<If*> branches;  // innermost first
};

Guard guard_of(const Allocate& site, Store& store) {
  Guard guard;
  guard.condition = store.mask && store.mask.is(ExprKind::Broadcast) ? store.mask.arg(0) : store.mask;
  bool alone = true;
  for (Stmt* at = store.parent; at != &site; at = at->parent) {
    const Seq* seq = at->as<Seq>();
    alone = alone && (seq == nullptr || seq->children().size() == 1);
    If* branch = at->as<If>();
    if (branch == nullptr) continue;
    if (branch->else_case() != nullptr || !alone ||
        (guard.condition && guard.condition.dtype().is_vector())) {
      guard.known = false;
      return guard;
    }
    guard.condition = conjunction(branch->condition, guard.condition);
    guard.branches.push_back(branch);
  }
  return guard;
}

/// The condition, if any, under which each slice of a register buffer is stored.
class Masks {
 public:
  explicit Masks(const Allocate& allocate) : allocate_(allocate), outside_(Analyzer::at(allocate)) {}

  /// False if the condition differs from that of other stores to the same slices, or changes during the
  /// buffer's lifetime.
  bool add(const Store& store, const Guard& guard) {
    if (!guard.known) return false;
    loops_.clear();
    for (const Loop* loop : loops_between(allocate_, store)) {
      const bool in_index = uses_var(store.indices[0], loop->var);
      if (in_index) loops_.push_back(loop);
      if (guard.condition && uses_var(guard.condition, loop->var) && !in_index) return false;
    }
    return expand(store, guard.condition, 0, {});
  }

  /// The range [first, end) of elements that the stores touch in all their lanes.
  int64_t first() const { return masks_.empty() ? 0 : masks_.begin()->first.first; }
  int64_t end() const {
    int64_t end = 0;
    for (const auto& [slice, mask] : masks_) end = std::max(end, slice.first + slice.second);
    return end;
  }

 private:
  bool expand(const Store& store, const Expr& condition, size_t depth, Substitution values) {
    if (depth < loops_.size()) {
      const Loop& loop = *loops_[depth];
      int64_t first = 0;
      if (loop.loop_kind != LoopKind::Unrolled || !as_const_int(loop.min, &first)) return false;
      for (int64_t i = first; i < first + loop.const_extent(); ++i) {
        values.set(loop.var, i);
        if (!expand(store, condition, depth + 1, values)) return false;
      }
      return true;
    }
    const Expr index = substitute(store.indices[0], values);
    const Expr base = index.is(ExprKind::Ramp) ? index.arg(0) : index;
    int64_t offset = 0;
    if (!as_const_int(outside_.simplify(base), &offset) || masks_.size() > kMaxStores) return false;
    const Expr mask = condition ? outside_.simplify(substitute(condition, values)) : Expr();
    const auto [known, fresh] = masks_.emplace(std::pair(offset, index.dtype().lanes), mask);
    if (fresh) return true;
    return !mask || !known->second ? !mask && !known->second : equal(mask, known->second);
  }

  const Allocate& allocate_;
  Analyzer outside_;
  std::vector<const Loop*> loops_;
  std::map<std::pair<int64_t, int>, Expr> masks_;
};

bool loads_others(const Store& store) {
  return any_of_expr(store.value, [&](const Expr& part) {
    const LoadNode* access = part.as<LoadNode>();
    return access != nullptr && access->buffer != store.buffer;
  });
}

/// Makes the store, and the loads of its own element, unconditional in all lanes.
void unmask(Store& store, const Guard& guard) {
  store.mask = Expr();
  store.value = rewrite_expr(store.value, [&](const Expr& part) -> Expr {
    const LoadNode* access = part.as<LoadNode>();
    const bool own =
        access != nullptr && access->buffer == store.buffer && equal(access->indices()[0], store.indices[0]);
    return own ? load(access->buffer, {store.indices[0]}) : part;
  });
  if (loads_others(store)) return;  // such a load may be valid only where the condition holds
  for (If* branch : guard.branches) {
    unwrap(*branch);
  }
}

}  // namespace

void unmask_registers(Program& program) {
  const auto in_registers = [](const Allocate& allocate) { return allocate.buffer->scope == kScopeRegister; };
  for (Allocate* allocate : collect<Allocate>(program.root(), in_registers)) {
    const auto is_own = [&](const Store& store) { return store.buffer == allocate->buffer; };
    std::vector<std::pair<Store*, Guard>> stores;
    for (Store* store : collect<Store>(*allocate->body(), is_own))
      stores.emplace_back(store, guard_of(*allocate, *store));
    Masks masks(*allocate);
    const auto agrees = [&](const auto& store) { return masks.add(*store.first, store.second); };
    if (!std::all_of(stores.begin(), stores.end(), agrees) || masks.first() < 0) continue;
    // Without masks the last vector of a ragged row needs its whole register.
    if (masks.end() > allocate->buffer->span()) {
      const Buffer old = allocate->buffer;
      allocate->buffer = make_buffer(old->name, old->dtype, {masks.end()}, kScopeRegister);
      replace_buffer_in(*allocate, old, allocate->buffer);
    }
    for (const auto& [store, guard] : stores) {
      if (guard.condition) unmask(*store, guard);
    }
  }
}

}  // namespace tunesmith
