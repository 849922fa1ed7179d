#include "tunesmith/verification/reference.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "reference/error_bound.h"
#include "reference/small_statements.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {
namespace {

Expr zero() { return float_imm(0.0, kF64); }

constexpr double kSmallestTerm = 1e-150;  // smaller than any term that counts, with a finite reciprocal

std::vector<Expr> values(const std::vector<Expr>& exprs, const Twins& twins) {
  std::vector<Expr> result;
  for (const Expr& expr : exprs) result.push_back(twins.value(expr));
  return result;
}

/// Builds the stores that replace one of the program's stores, in order.
class Rewrite {
 public:
  Rewrite(const Twins& twins, const Store& store)
      : twins_(twins),
        bounds_(twins),
        store_(store),
        beside_(twins.of(store.buffer)),
        indices_(values(store.indices, twins)) {}

  std::unique_ptr<Seq> take() {
    const Expr term = beside_.sum ? summand(store_) : Expr();
    if (term) {
      if (beside_.sum->integral) {
        count_term(term);
      } else {
        add_term(term);
      }
    } else if (beside_.sum) {
      const SumTwins& sum = *beside_.sum;
      for (const Buffer& twin : {sum.magnitude, sum.squares, sum.roundings, sum.errors, sum.count})
        if (twin) append(twin, zero());
    } else if (beside_.bound) {
      const Expr error = bounds_.of(store_.value);
      const Expr beyond = bounds_.overflow_of(store_.value);
      append(beside_.bound, error && beyond ? error + beyond : error ? error : beyond ? beyond : zero());
    }
    // This store comes last, since the others read the value that it updates.
    append(beside_.value, twins_.value(store_.value));
    return std::move(stores_);
  }

 private:
  Expr number(const Expr& expr) const {
    return expr.dtype().is_float() ? twins_.value(expr) : cast(kF64, twins_.value(expr));
  }
  Expr now(const Buffer& twin) const { return load(twin, indices_); }
  void append(const Buffer& to, const Expr& value) {
    stores_->append(std::make_unique<Store>(to, indices_, value));
  }
  void add_to(const Buffer& twin, const Expr& value) { append(twin, now(twin) + value); }

  /// For an integer sum, which is exact while the magnitude stays in the type's exact range.
  void count_term(const Expr& term) {
    const SumTwins& sum = *beside_.sum;
    add_to(sum.magnitude, bounds_.magnitude(term));
    if (sum.errors) add_to(sum.errors, bounds_.of_loads(term));
  }

  void add_term(const Expr& term) {
    const SumTwins& sum = *beside_.sum;
    const double unit = unit_roundoff(store_.buffer->dtype);
    const Expr t = twins_.value(term);
    const Expr next = now(beside_.value) + t;
    // The term's own roundings are independent, too, if its operands have no error.
    const Expr error = bounds_.of(term);
    const Expr carried = sum.errors ? bounds_.of_loads(term) : Expr();
    const bool fresh = error && !carried;
    const Expr relative = fresh ? error * float_imm(1.0 / unit, kF64) : Expr();
    Expr square = t * t;
    if (fresh && !sum.linear && !is_product(term)) square = square + relative * relative;
    const Expr squares = now(sum.squares) + square;
    Expr rounding = next * next;
    if (sum.linear) {
      rounding = call(MathOp::Abs, {next}) + call(MathOp::Sqrt, {squares});
      if (fresh) rounding = rounding + relative;
    }
    Expr linear = carried ? error : Expr();
    const Expr size = call(MathOp::Abs, {t});
    if (sum.drifts) {
      // Terms far above a step of the sum are rounded up as often as down; those below a step are all lost.
      const Expr half_step = call(MathOp::Abs, {next}) * float_imm(unit, kF64);
      const Expr lost = min(size, div(half_step * half_step, max(size, float_imm(kSmallestTerm, kF64))));
      linear = linear ? linear + lost : lost;
    }
    if (sum.count) {
      const Expr absorbed = lt(size, rounding * float_imm(unit, kF64));
      const Expr lost = select(absorbed, fresh ? size + error : size, zero());
      linear = linear ? linear + lost : lost;
      rounding = select(absorbed, zero(), rounding);
      add_to(sum.count, select(absorbed, zero(), float_imm(1.0, kF64)));
    }
    if (sum.magnitude) {
      const Expr integer = eq(call(MathOp::Floor, {t}), t);
      const Expr sure = error ? logical_and(integer, eq(error, zero())) : integer;
      add_to(sum.magnitude, select(sure, call(MathOp::Abs, {t}), float_imm(kAnything, kF64)));
    }
    if (sum.errors) add_to(sum.errors, linear ? linear : zero());
    append(sum.roundings, now(sum.roundings) + rounding);
    append(sum.squares, squares);
  }

  /// A single rounding of the term is smaller than that of adding it.
  static bool is_product(const Expr& term) {
    const auto is_leaf = [](const Expr& part) {
      return part.is(ExprKind::Load) || (part.is(ExprKind::Cast) && part.arg(0).is(ExprKind::Load));
    };
    return is_leaf(term) || (term.is(ExprKind::Mul) && is_leaf(term.arg(0)) && is_leaf(term.arg(1)));
  }

  const Twins& twins_;
  ErrorBound bounds_;
  const Store& store_;
  const BufferTwins& beside_;
  std::vector<Expr> indices_;
  std::unique_ptr<Seq> stores_ = std::make_unique<Seq>();
};

void rewrite(Stmt& stmt, const Twins& twins) {
  if (const Store* store = stmt.as<Store>()) {
    replace(stmt, Rewrite(twins, *store).take());
    return;
  }
  std::vector<Stmt*> children;
  visit_children(stmt, [&](Stmt& child) { children.push_back(&child); });
  if (Block* block = stmt.as<Block>()) block->predicate = twins.value(block->predicate);
  for (Stmt* child : children) rewrite(*child, twins);
}

/// A bound of the partial sums of a complete sum, in any order.
Expr reach_of_sum(const BufferTwins& beside, const std::vector<Expr>& indices) {
  return call(MathOp::Abs, {load(beside.value, indices)}) +
         call(MathOp::Sqrt, {load(beside.sum->squares, indices)}) * float_imm(kRoundings, kF64);
}

/// The bound of a complete sum, from the collected quantities.
Expr bound_of_sum(DType type, const BufferTwins& beside, const std::vector<Expr>& indices) {
  const SumTwins& sum = *beside.sum;
  const auto at = [&](const Buffer& twin) { return load(twin, indices); };
  Expr bound;
  if (sum.integral) {
    bound = ErrorBound::unless_counted(sum.counts_in, at(sum.magnitude));
  } else {
    const double unit = type.bits == 64 ? 2.0 * unit_roundoff(type) : unit_roundoff(type);
    const Expr any_order = at(sum.roundings) + at(sum.squares) * float_imm(sum.terms, kF64);
    bound = sum.linear ? at(sum.roundings) * float_imm(unit, kF64)
                       : call(MathOp::Sqrt, {any_order}) * float_imm(kRoundings * unit, kF64);
    // Products below the normal range are rounded to its steps; sums of them are not.
    bound = bound + float_imm(sum.terms * ErrorBound::underflow(type), kF64);
    if (type.bits == 64) {
      // The squares of terms below 2^-500 vanish. Sums of denormals do not round.
      const Expr tiny = float_imm(0x1p-1000, kF64);
      const Expr vanished = logical_and(lt(any_order, tiny), lt(tiny, call(MathOp::Abs, {at(beside.value)})));
      bound = bound + select(vanished, float_imm(sum.terms * unit * 0x1p-500, kF64), zero());
    }
    if (sum.lost) bound = bound + at(sum.lost);
    if (sum.magnitude) {
      bound = select(le(at(sum.magnitude), float_imm(1.0 / unit_roundoff(type), kF64)), zero(), bound);
    }
    if (const Expr beyond = ErrorBound::overflow(type, reach_of_sum(beside, indices))) bound = bound + beyond;
  }
  return sum.errors ? bound + at(sum.errors) : bound;
}

/// Inserts a stage directly behind the one that computes `value`.
void insert_behind(Program& reference, const Buffer& value, StmtPtr stage) {
  Seq& root = reference.root();
  size_t last = 0;
  for (size_t i = 0; i < root.children().size(); ++i) {
    walk(*root.children()[i], [&](Stmt& stmt) {
      const Store* store = stmt.as<Store>();
      if (store != nullptr && store->buffer == value) last = i;
    });
  }
  root.insert(last + 1, std::move(stage));
}

/// Appends a stage that visits the terms added by `update` again, now that the sum is
/// known, and sums what they may lose beside its largest partial sum (error_bound.h).
void append_lost(Program& reference, const Store& update, const Twins& twins) {
  const BufferTwins& beside = twins.of(update.buffer);
  const Block& block = *enclosing_block(update);
  Substitution renamed;
  std::vector<IterVar> iters;
  std::vector<IterDomain> domains;
  for (const Loop* loop : loops_above(block)) {
    domains.push_back({Var(loop->var->name), loop->const_extent()});
    renamed.set(loop->var, domains.back().var);
  }
  const std::vector<Expr> bindings = substitute(block.bindings, renamed);
  for (const IterVar& iter : block.iters) {
    iters.push_back({Var(iter.var->name), iter.extent, iter.kind});
    renamed.set(iter.var, iters.back().var);
  }
  std::vector<Expr> indices;
  for (const Expr& index : update.indices) indices.push_back(substitute(twins.value(index), renamed));
  const Expr term = substitute(twins.value(summand(update)), renamed);
  const Expr size = call(MathOp::Abs, {term});
  const Expr half_step = reach_of_sum(beside, indices) * float_imm(unit_roundoff(update.buffer->dtype), kF64);
  const Expr mean = load(beside.value, indices) * float_imm(1.0 / beside.sum->terms, kF64);
  const Expr apart = max(min(size, call(MathOp::Abs, {term - mean})), half_step);
  const Expr lost = beside.sum->linear
                        ? select(lt(size, half_step), size, zero())
                        : min(size, div(half_step * half_step, max(apart, float_imm(kSmallestTerm, kF64))));
  const Buffer& sum = beside.sum->lost;
  std::unique_ptr<Block> stage = reference.make_block(
      sum->name, std::move(iters), bindings, std::make_unique<Store>(sum, indices, zero()),
      std::make_unique<Store>(sum, indices, load(sum, indices) + lost));
  stage->predicate = substitute(twins.value(block.predicate), renamed);
  insert_behind(reference, beside.value, reference.make_nest(domains, std::move(stage)));
}

/// Appends a stage that computes the bounds of the sum `buffer`, after the sum.
void append_bound(Program& reference, const Buffer& buffer, const BufferTwins& beside) {
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;
  std::vector<Expr> indices;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    const std::string name = "i" + std::to_string(d);
    iters.push_back({Var("v" + name), buffer->shape[d], IterKind::Spatial});
    bindings.push_back(Var(name));
    indices.push_back(iters.back().var);
  }
  StmtPtr nest = reference.make_block(
      beside.bound->name, std::move(iters), bindings, nullptr,
      std::make_unique<Store>(beside.bound, indices, bound_of_sum(buffer->dtype, beside, indices)));
  for (size_t d = buffer->shape.size(); d-- > 0;)
    nest = reference.make_loop(Var::from(bindings[d]), buffer->shape[d], std::move(nest));
  insert_behind(reference, beside.value, std::move(nest));
}

/// A refused step leaves the schedule unchanged, which
/// is only slower. Returns whether the step was applied.
template <typename Step>
bool attempt(const Step& step) {
  try {
    step();
  } catch (const ScheduleError&) {
    return false;
  }
  return true;
}

constexpr int64_t kLanes = 16;  // of f64: a few vectors after lowering, on any machine
/// For sums: the sum and the inputs of its bound stay in registers.
constexpr int64_t kLanesOfSum = 8;

/// Vectorizes the innermost loop of the block.
void vectorize_last(Schedule& schedule, const BlockRV& block, int64_t lanes) {
  schedule.vectorize(schedule.split(schedule.get_loops(block).back(), {std::nullopt, lanes}).back());
}

}  // namespace

Program reference_program(const Program& given, DataKind data) {
  const Program program = with_small_statements(given, data);
  Program reference = program.clone();
  const Twins twins(program, data);
  rewrite(reference.root(), twins);
  const auto replaced = [&](std::vector<Buffer>& buffers) {
    for (Buffer& buffer : buffers) buffer = twins.of(buffer).value;
  };
  replaced(reference.inputs);
  replaced(reference.outputs);
  replaced(reference.intermediates);
  for (const Buffer& output : program.outputs) {
    const BufferTwins& beside = twins.of(output);
    if (beside.bound) reference.outputs.push_back(beside.bound);
  }
  for (const Buffer& buffer : program.intermediates) {
    const BufferTwins& beside = twins.of(buffer);
    if (beside.bound) reference.intermediates.push_back(beside.bound);
  }
  for (const Buffer& buffer : program.buffers()) {
    const BufferTwins& beside = twins.of(buffer);
    if (!beside.sum) continue;
    const SumTwins& sum = *beside.sum;
    for (const Buffer& twin : {sum.magnitude, sum.squares, sum.roundings, sum.errors, sum.count})
      if (twin) reference.intermediates.push_back(twin);
    append_bound(reference, buffer, beside);
    if (!sum.lost) continue;
    reference.intermediates.push_back(sum.lost);
    walk(program.root(), [&](const Stmt& stmt) {
      const Store* store = stmt.as<Store>();
      if (store != nullptr && store->buffer == buffer && summand(*store))
        append_lost(reference, *store, twins);
    });
  }
  return reference;
}

Program in_fast_order(const Program& reference) {
  Schedule schedule(reference);
  for (const Block* block : reference.blocks()) {
    const BlockRV handle = schedule.get_block(block->name);
    const std::vector<LoopRV> loops = schedule.get_loops(handle);
    const auto is_spatial = [&](size_t i) { return block->iters[i].kind == IterKind::Spatial; };
    if (loops.size() != block->iters.size() || loops.empty() || !is_spatial(0)) continue;
    size_t last = loops.size() - 1;
    while (!is_spatial(last)) --last;
    const bool reduces = last + 1 < loops.size();
    bool innermost = !reduces;
    if (last > 0 && reduces) {
      std::vector<LoopRV> order(loops.begin() + static_cast<std::ptrdiff_t>(last) + 1, loops.end());
      if (block->iters[last].extent % kLanesOfSum == 0) {
        const std::vector<LoopRV> halves = schedule.split(loops[last], {std::nullopt, kLanesOfSum});
        order.insert(order.begin(), halves[0]);
        order.push_back(halves[1]);
      } else {
        order.push_back(loops[last]);
      }
      innermost = attempt([&] { schedule.reorder(order); });
    }
    size_t outermost = 0;
    while (outermost < last && block->iters[outermost].extent == 1) ++outermost;
    if (is_spatial(outermost)) attempt([&] { schedule.parallel(loops[outermost]); });
    if (outermost == last || !innermost) continue;
    const int64_t lanes = reduces ? kLanesOfSum : kLanes;
    if (reduces)
      attempt(
          [&] { vectorize_last(schedule, schedule.decompose_reduction(handle, loops[last + 1]), lanes); });
    attempt([&] { vectorize_last(schedule, handle, lanes); });
  }
  return schedule.program().clone();
}

std::vector<bool> has_bound(const Program& program, DataKind data) {
  const Twins twins(program, data);
  std::vector<bool> result;
  for (const Buffer& output : program.outputs) result.push_back(twins.of(output).bound != nullptr);
  return result;
}

LongestReduction longest_reduction(const Program& program) {
  LongestReduction longest;
  for (const Block* block : program.blocks()) {
    LongestReduction here;
    for (const IterVar& iter : block->iters)
      (iter.kind == IterKind::Reduction ? here.terms : here.elements) *= iter.extent;
    if (here.terms > longest.terms) longest = here;
  }
  return longest;
}

bool exponentiates_below_maximum(const Program& program) {
  std::set<const BufferNode*> maxima;  // maxima, and values computed from them
  const auto reads_maximum = [&](const Expr& expr) {
    bool reads = false;
    walk_expr(expr, [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      reads = reads || (access != nullptr && maxima.contains(access->buffer.get()));
    });
    return reads;
  };
  bool found = false;
  walk(program.root(), [&](const Stmt& stmt) {  // visits stages in order
    const Store* store = stmt.as<Store>();
    if (store == nullptr) return;
    walk_expr(store->value, [&](const Expr& part) {
      const CallNode* call = part.as<CallNode>();
      found = found || (call != nullptr && call->op == MathOp::Exp && reads_maximum(part));
    });
    const Block* block = enclosing_block(*store);
    const bool reduces = block != nullptr && block->has_reduction();
    if (reduces ? store->value.is(ExprKind::Max) : reads_maximum(store->value))
      maxima.insert(store->buffer.get());
  });
  return found;
}

}  // namespace tunesmith
