#include <algorithm>

#include "lower/slices.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// An accumulating store and the loop around which its element may stay in registers.
struct Accumulation {
  Store* store = nullptr;
  Loop* loop = nullptr;       // serial; the element is invariant in it
  std::vector<Loop*> tile;    // unrolled loops inside `loop` that the index uses, outermost first
  std::vector<Slice> slices;  // in the row-major order of `tile`
};

/// True if every access to the store's buffer under `loop` has the same index and mask.
bool only_user(const Loop& loop, const Store& accumulating) {
  bool only = true;
  const auto same_mask = [&](const Expr& mask) {
    if (!mask || !accumulating.mask) return !mask && !accumulating.mask;
    return equal(mask, accumulating.mask);
  };
  walk_accesses(loop, [&](const Stmt& stmt, const AccessSite& access) {
    if (access.buffer != accumulating.buffer) return;
    only = only && &stmt == &accumulating && equal(access.indices[0], accumulating.indices[0]) &&
           (access.load == nullptr || same_mask(access.load->mask()));
  });
  return only;
}

bool disjoint(std::vector<Slice> slices) {
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < slices.size(); ++i) {
    if (slices[i - 1].overlaps(slices[i])) return false;
  }
  return true;
}

/// The widest promotion that fits the registers; its `loop` is null if there is none.
Accumulation find(Store& store, const LowerOptions& options) {
  Accumulation best;
  std::vector<Loop*> inner;  // unrolled loops on the way, innermost first
  for (Stmt* at = store.parent; at != nullptr; at = at->parent) {
    if (at->kind == StmtKind::If) break;  // a promotion would ignore the condition
    Loop* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    const bool in_index = uses_var(store.indices[0], loop->var);
    const bool used = in_index || (store.mask && uses_var(store.mask, loop->var));
    if (loop->loop_kind == LoopKind::Unrolled) {
      // Iterations that differ only in the mask accumulate into one element.
      if (used && !in_index && loop->const_extent() > 1) break;
      if (used && !is_const_int(loop->min, 0)) break;  // the tile must begin at its first element
      inner.push_back(loop);
      continue;
    }
    if (loop->loop_kind != LoopKind::Serial || used) break;
    const auto slices = slices_of(store.indices[0], inner, static_cast<size_t>(options.vector_registers));
    if (!slices || !disjoint(*slices)) break;
    const int64_t operands = operand_registers(store, inner, options.vector_bits);
    const int64_t registers = registers_for(*slices, store.buffer->dtype, options.vector_bits);
    if (registers + operands > options.vector_registers) break;
    if (!only_user(*loop, store)) break;
    best = {&store, loop, {}, *slices};
    for (auto it = inner.rbegin(); it != inner.rend(); ++it) {
      const bool in_mask = store.mask && uses_var(store.mask, (*it)->var);
      if (uses_var(store.indices[0], (*it)->var) || in_mask) best.tile.push_back(*it);
    }
  }
  return best;
}

/// The position of the element in the accumulator, over the variables of the tile's loops.
Expr position(const Accumulation& what, int lanes) {
  Expr at = 0;
  for (const Loop* loop : what.tile) at = at * loop->const_extent() + loop->var;
  at = at * lanes;
  return lanes > 1 ? ramp(at, 1, lanes) : at;
}

StmtPtr copy_nest(Program& program, const Accumulation& what, const Buffer& accumulator, bool in) {
  const Store& store = *what.store;
  const Substitution fresh = fresh_vars(what.tile);
  const std::vector<Expr> outside = substitute(store.indices, fresh);
  const std::vector<Expr> inside{substitute(position(what, outside[0].dtype().lanes), fresh)};
  const Expr mask = store.mask ? substitute(store.mask, fresh) : Expr();
  StmtPtr copy = in ? std::make_unique<Store>(accumulator, inside, load(store.buffer, outside, mask))
                    : std::make_unique<Store>(store.buffer, outside, load(accumulator, inside), mask);
  return copy_loops(program, what.tile, fresh, std::move(copy));
}

void promote(Program& program, const Accumulation& what) {
  const Buffer memory = what.store->buffer;
  const int lanes = what.store->indices[0].dtype().lanes;
  int64_t count = 1;
  for (const Loop* loop : what.tile) count *= loop->const_extent();
  const Buffer accumulator = make_buffer(program.fresh_buffer_name(memory->name + "_acc"), memory->dtype,
                                         {count * lanes}, kScopeRegister);
  StmtPtr copy_in = copy_nest(program, what, accumulator, true);
  StmtPtr copy_out = copy_nest(program, what, accumulator, false);
  const Expr inside = position(what, lanes);
  what.store->value = rewrite_expr(what.store->value, [&](const Expr& part) -> Expr {
    const LoadNode* access = part.as<LoadNode>();
    return access != nullptr && access->buffer == memory ? load(accumulator, {inside}) : part;
  });
  what.store->buffer = accumulator;
  what.store->indices = {inside};
  what.store->mask = Expr();  // masked lanes accumulate values that are never copied out

  auto allocate = std::make_unique<Allocate>(accumulator, std::make_unique<Seq>());
  Allocate& around = *allocate;
  StmtPtr loop = replace(*what.loop, std::move(allocate));
  Seq& body = *around.body()->as<Seq>();
  body.append(std::move(copy_in));
  body.append(std::move(loop));
  body.append(std::move(copy_out));
}

/// The target keeps an intrinsic's accumulators in registers.
bool in_intrinsic(const Stmt& stmt) {
  return loop_above(stmt, [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); }) !=
         nullptr;
}

}  // namespace

void promote_accumulators(Program& program, const LowerOptions& options) {
  const ExecutionModel& machine = options.execution;
  // Memory owned by a single one of the synchronising threads counts as registers.
  const auto in_registers = [&](const Buffer& buffer) {
    const MemoryScope* scope = machine.find_scope(buffer->scope);
    return buffer->scope == kScopeRegister ||
           (scope != nullptr && machine.depth_of(*scope) > machine.first_synchronising());
  };
  const auto accumulates = [&](const Store& store) {
    return !in_registers(store.buffer) && loads_from(store.value, store.buffer) && !in_intrinsic(store);
  };
  for (Store* store : collect<Store>(program.root(), accumulates)) {
    const Accumulation what = find(*store, options);
    if (what.loop != nullptr) promote(program, what);
  }
}

}  // namespace tunesmith
