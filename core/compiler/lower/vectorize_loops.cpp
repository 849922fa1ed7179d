#include <algorithm>
#include <bit>

#include "lower/masks.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// Turns a body into its vector form: `var` becomes base + (0, 1, .., lanes - 1), under `mask` if there is
/// one.
class Vectorizer {
 public:
  /// `outside` knows the loops around the vectorized loop.
  Vectorizer(Var var, Expr base, int lanes, Expr mask, const Analyzer& outside)
      : var_(std::move(var)),
        base_(std::move(base)),
        lanes_(lanes),
        mask_(std::move(mask)),
        ranges_(outside) {}

  void run(Stmt& stmt) {
    if (Seq* seq = stmt.as<Seq>()) {
      std::vector<Stmt*> children;
      for (const StmtPtr& child : seq->children()) children.push_back(child.get());
      for (Stmt* child : children) run(*child);
    } else if (Loop* loop = stmt.as<Loop>()) {
      if (uses_var(loop->min, var_) || uses_var(loop->extent, var_)) {
        throw LowerError("vectorize", "an inner loop has bounds that differ between lanes", "");
      }
      const Interval first = ranges_.bounds(loop->min);
      const Interval count = ranges_.bounds(loop->extent);
      ranges_.bind(loop->var, Interval{first.min, first.max + count.max - 1});
      run(*loop->body());
    } else if (Store* store = stmt.as<Store>()) {
      run_store(*store);
    } else if (If* branch = stmt.as<If>()) {
      run_if(*branch);
    } else {
      throw LowerError("vectorize", "an allocation inside a vectorized loop", "");
    }
  }

 private:
  void run_store(Store& store) {
    const bool address_varies = uses_var(store.indices[0], var_);
    const bool value_varies = uses_var(store.value, var_) || (store.mask && uses_var(store.mask, var_));
    if (!address_varies) {
      if (value_varies) {
        throw LowerError("vectorize", "the lanes of a vectorized loop write one element", store.buffer->name);
      }
      return;
    }
    store.indices[0] = index(store.indices[0]);
    store.value = widen(store.value);
    if (store.value.dtype().lanes == 1) store.value = broadcast(store.value, lanes_);
    const Expr own = store.mask ? lanes_of(widen(store.mask)) : Expr();
    store.mask = conjunction(own, mask_);
  }

  void run_if(If& branch) {
    if (!uses_var(branch.condition, var_)) {
      run(*branch.then_case());
      if (branch.else_case() != nullptr) run(*branch.else_case());
      return;
    }
    if (branch.else_case() != nullptr) {
      throw LowerError("vectorize", "an if-else condition differs between lanes", "");
    }
    const Expr outer = mask_;
    const bool outer_may_be_empty = mask_may_be_empty_;
    mask_ = conjunction(lanes_of(widen(branch.condition)), outer);
    mask_may_be_empty_ = true;
    run(*branch.then_case());
    mask_ = outer;
    mask_may_be_empty_ = outer_may_be_empty;
    unwrap(branch);
  }

  Expr lanes_of(const Expr& expr) const { return expr.dtype().lanes == 1 ? broadcast(expr, lanes_) : expr; }

  /// An index over lanes: a Ramp if it is linear in the variable.
  Expr index(const Expr& expr) const {
    // Treated as data, whose loads are masked, if all lanes may be inactive.
    if (mask_may_be_empty_ && reads_outside(expr)) return widen_children(expr);
    if (!uses_var(expr, var_)) return expr;
    LinearForm form = analyzer_.linear(expr);
    const int64_t stride = take_term(form, var_);
    const Expr rest = form.to_expr();
    if (stride != 0 && !uses_var(rest, var_)) {
      return ramp(analyzer_.simplify(rest + base_ * stride), int_imm(stride), lanes_);
    }
    return widen_children(expr);
  }

  Expr widen_children(const Expr& expr) const {
    if (expr.same_as(var_)) return ramp(base_, 1, lanes_);
    if (!uses_var(expr, var_) && !(mask_may_be_empty_ && reads_outside(expr))) return expr;
    std::vector<Expr> args;
    // Loaded indices, as in a gather, are data: their loads are masked.
    for (const Expr& arg : expr.args())
      args.push_back(arg.dtype().is_index() ? widen_children(arg) : widen(arg));
    return with_args(expr, std::move(args));
  }

  /// A value over lanes. Invariant parts stay scalar and are broadcast where they meet a vector.
  Expr widen(const Expr& expr) const {
    if (const LoadNode* access = expr.as<LoadNode>()) return widen_load(*access, expr);
    if (expr.same_as(var_)) return ramp(base_, 1, lanes_);
    if (expr.args().empty()) return expr;
    if (expr.dtype() == kIndex) return index(expr);
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& arg : expr.args()) {
      args.push_back(widen(arg));
      changed = changed || !args.back().same_as(arg);
    }
    return changed ? with_args(expr, std::move(args)) : expr;
  }

  Expr widen_load(const LoadNode& access, const Expr& expr) const {
    const Expr at = index(access.indices()[0]);
    Expr own = access.mask() ? widen(access.mask()) : Expr();
    const bool varies = at.dtype().lanes > 1 || (own && own.dtype().lanes > 1);
    if (!varies && mask_may_be_empty_ && !inside_buffer(access)) {
      return load(access.buffer, {broadcast(at, lanes_)}, own ? conjunction(lanes_of(own), mask_) : mask_);
    }
    if (!varies) return own && !own.same_as(access.mask()) ? load(access.buffer, {at}, own) : expr;
    if (own) own = lanes_of(own);
    const Expr where = at.dtype().lanes > 1 ? at : broadcast(at, lanes_);
    return load(access.buffer, {where}, conjunction(own, mask_));
  }

  /// Does it load elements that may lie outside their buffer where the mask does not hold?
  bool reads_outside(const Expr& expr) const {
    return any_of_expr(expr, [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      return access != nullptr && !inside_buffer(*access);
    });
  }

  bool inside_buffer(const LoadNode& access) const {
    const Interval range = ranges_.bounds(access.indices()[0]);
    return range.min >= 0 && range.max < access.buffer->span();
  }

  Var var_;
  Expr base_;
  int lanes_;
  Expr mask_;
  /// Under a condition all lanes may be inactive; then nothing may be loaded, not even values that all lanes
  /// share.
  bool mask_may_be_empty_ = false;
  Analyzer analyzer_;
  Analyzer ranges_;
};

/// The width in bits of the widest element that the body loads or stores.
int widest_element(const Stmt& body) {
  int bits = 8;
  walk_accesses(body, [&](const Stmt&, const AccessSite& access) {
    bits = std::max<int>(bits, access.buffer->dtype.bits);
  });
  return bits;
}

/// Does a store go to the same element in all lanes, under a condition that differs between lanes? "Does any
/// lane hold it" is no vector operation.
bool stores_once_for_some_lane(const Stmt& stmt, const Var& var, bool conditional) {
  if (const Store* store = stmt.as<Store>()) return conditional && !uses_var(store->indices[0], var);
  if (const If* branch = stmt.as<If>()) conditional = conditional || uses_var(branch->condition, var);
  bool found = false;
  visit_children(
      stmt, [&](const Stmt& child) { found = found || stores_once_for_some_lane(child, var, conditional); });
  return found;
}

void vectorize(Program& program, Loop& loop, int64_t vector_bits) {
  const int64_t extent = loop.const_extent();
  check_invariant(is_const_int(loop.min, 0), "a vectorized loop begins at 0");
  const int64_t widest = std::max<int64_t>(1, vector_bits / widest_element(*loop.body()));
  const int64_t lanes = std::min(widest, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))));
  const int64_t whole = extent / lanes;
  const int64_t rest = extent % lanes;
  if (lanes == 1 || stores_once_for_some_lane(*loop.body(), loop.var, false)) {
    loop.loop_kind = LoopKind::Unrolled;
    return;
  }
  const Analyzer outside = Analyzer::at(loop);
  StmtPtr body = loop.take_body();
  auto result = std::make_unique<Seq>();
  if (whole > 0) {
    StmtPtr main = rest > 0 ? body->clone() : std::move(body);
    const Var group(loop.var->name);
    auto holder = std::make_unique<Seq>();
    holder->append(std::move(main));
    const Expr base = whole == 1 ? Expr(0) : Expr(group) * lanes;
    Vectorizer(loop.var, base, static_cast<int>(lanes), {}, outside).run(*holder);
    if (whole == 1) {
      result->append(std::move(holder));
    } else {
      auto groups = program.make_loop(group, whole, std::move(holder));
      groups->loop_kind = LoopKind::Unrolled;
      result->append(std::move(groups));
    }
  }
  if (rest > 0) {
    auto holder = std::make_unique<Seq>();
    holder->append(std::move(body));
    const Expr mask = lt(ramp(0, 1, static_cast<int>(lanes)), broadcast(rest, static_cast<int>(lanes)));
    Vectorizer(loop.var, whole * lanes, static_cast<int>(lanes), mask, outside).run(*holder);
    result->append(std::move(holder));
  }
  replace(loop, std::move(result));
}

}  // namespace

void vectorize_loops(Program& program, int64_t vector_bits) {
  std::vector<Loop*> outermost = collect<Loop>(program.root(), is_vectorized);
  std::erase_if(outermost, [](Loop* loop) {
    const bool nested = loop_above(*loop, is_vectorized) != nullptr;
    if (nested) loop->loop_kind = LoopKind::Unrolled;  // vector operations cannot be nested
    return nested;
  });
  for (Loop* loop : outermost) vectorize(program, *loop, vector_bits);
}

}  // namespace tunesmith
