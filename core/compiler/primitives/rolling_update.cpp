// Softmax in one pass over its columns: exp(x - new) = exp(x - old) * exp(old - new), so that sums of the
// exponentials may begin with a maximum that is not yet the last, and be rescaled where it grows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/element_reader.h"
#include "analysis/touched_region.h"
#include "primitives/primitives.h"
#include "primitives/shared/placement.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// A block whose result has the factor exp(-maximum).
struct ScaledBlock {
  Block* block = nullptr;
  Buffer buffer;
  std::vector<Expr> row;  // the element of the maximum, over the block's iterators
};

struct OnlineMaximum {
  Stage maximum;
  Loop* loop = nullptr;
  Block* reader = nullptr;          // the only one of the maximum
  Expr exponential;                 // in the reader: exp(x - maximum), where x is what the maximum is of
  std::vector<Expr> bindings;       // of the maximum's block in the reader's place
  std::vector<ScaledBlock> within;  // blocks that an iteration of the loop finishes
  std::vector<ScaledBlock> sums;    // those that the loop finishes
};

/// exp(x - maximum[...]) in the statement, or null.
Expr find_exponential(const Store& store, const Buffer& maximum) {
  Expr found;
  walk_expr(store.value, [&](const Expr& part) {
    const auto* call = part.as<CallNode>();
    if (call == nullptr || call->op != MathOp::Exp || !part.arg(0).is(ExprKind::Sub)) return;
    const auto* load = part.arg(0).arg(1).as<LoadNode>();
    if (load != nullptr && load->buffer == maximum && !load->mask()) found = part;
  });
  return found;
}

/// Pairs the iterators of `block` in `from` with what stands in their places in `to`.
void pair_iters(const Expr& from, const Expr& to, const Block& block, std::vector<Expr>* values) {
  const int iter = from.is(ExprKind::Var) ? block.iter_index(Var::from(from)) : -1;
  if (iter >= 0 && to.dtype().is_index()) (*values)[static_cast<size_t>(iter)] = to;
  if (from.args().size() != to.args().size()) return;
  for (size_t i = 0; i < from.args().size(); ++i) pair_iters(from.arg(i), to.arg(i), block, values);
}

/// Requires that the reader subtracts the maximum from what it is the maximum of, each once.
std::optional<Refusal> reader_refusal(OnlineMaximum* plan) {
  Block& block = *plan->maximum.block;
  const auto& readers = plan->maximum.uses.readers;
  if (readers.size() != 1)
    return Refusal{"the maximum has not one reader", fmt::format("{} has {}", block.name, readers.size()),
                   &block};
  plan->reader = readers[0];
  const Block& reader = *plan->reader;
  if (!is_ancestor(*plan->loop, reader))
    return Refusal{"the reader of the maximum stands outside the loop", reader.name, &reader};
  const Store* store = body_store(reader);
  if (store != nullptr) plan->exponential = find_exponential(*store, plan->maximum.buffer);
  if (!plan->exponential)
    return Refusal{"the reader does not subtract the maximum in an exponential", reader.name, &reader};

  ReductionPattern pattern;
  match_reduction(block, &pattern);
  const Expr& difference = plan->exponential.arg(0);
  std::vector<Expr> values(block.iters.size());
  pair_iters(pattern.term, difference.arg(0), block, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) values[i] = 0;
  }
  const Substitution map = block.iters_at(values);
  if (!equal(substitute(pattern.term, map), difference.arg(0)) ||
      !equal_indices(substitute(pattern.update->indices, map), difference.arg(1).as<LoadNode>()->indices()))
    return Refusal{"the maximum is not of what the reader subtracts it from", reader.name, &reader};
  plan->bindings = substitute(values, reader.iters_at(reader.bindings));
  const std::vector<IterDomain> loops = domains_of(loops_above(reader));
  if (!check_iter_map(plan->bindings, iter_extents(block), loops, reader.predicate).bijective)
    return Refusal{"the loops around the reader do not run over the maximum's instances, each once",
                   reader.name, &reader};
  for (const Loop* outer : loops_above(*plan->loop)) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (block.iters[i].kind == IterKind::Reduction && uses_var(plan->bindings[i], outer->var))
        return Refusal{"a loop further out carries the reduction", outer->var->name, outer};
    }
  }
  return std::nullopt;
}

/// Tells how a value depends on exp(-maximum).
class Scale {
 public:
  explicit Scale(const OnlineMaximum& plan) : plan_(plan) {}

  /// Has the value the factor once?
  bool is_factor(const Expr& expr) {
    const auto of = [&](size_t i) { return is_factor(expr.arg(i)); };
    const auto without = [&](size_t i) { return is_without(expr.arg(i)); };
    if (expr.same_as(plan_.exponential)) return at(expr.arg(0).arg(1).as<LoadNode>()->indices());
    switch (expr.kind()) {
      case ExprKind::Load:
        return is_scaled(*expr.as<LoadNode>());
      case ExprKind::FloatImm:
        return expr.as<FloatImm>()->value == 0;
      case ExprKind::Mul:
        return (of(0) && without(1)) || (without(0) && of(1));
      case ExprKind::Div:
        return of(0) && without(1);
      case ExprKind::Add:
      case ExprKind::Sub:
        return of(0) && of(1);
      case ExprKind::Select:
        return without(0) && of(1) && of(2);
      case ExprKind::Cast:
        return expr.dtype().is_float() && expr.arg(0).dtype().is_float() && of(0);
      default:
        return false;
    }
  }

  /// Of the factors found, which all have to be of one.
  const std::vector<Expr>& row() const { return row_; }

 private:
  bool is_without(const Expr& expr) const {
    return !loads_from(expr, plan_.maximum.buffer) &&
           std::none_of(plan_.within.begin(), plan_.within.end(),
                        [&](const ScaledBlock& scaled) { return loads_from(expr, scaled.buffer); });
  }

  bool is_scaled(const LoadNode& load) {
    for (const ScaledBlock& scaled : plan_.within) {
      if (scaled.buffer != load.buffer) continue;
      const auto iters = writer_iters(*scaled.block, load.indices());
      return iters && at(substitute(scaled.row, *iters));
    }
    return false;
  }

  bool at(std::span<const Expr> row) {
    if (row_.empty()) row_.assign(row.begin(), row.end());
    return equal_indices(row_, row);
  }

  const OnlineMaximum& plan_;
  std::vector<Expr> row_;
};

/// Is what the reader reads of the writer's buffer written in the same iteration of the loop, before it?
bool reads_its_iteration(const Block& reader, const Block& writer, const Buffer& buffer, const Loop& loop) {
  const Viewpoint view = view_from(loop, reader);
  std::vector<Expr> conditions;
  const auto written = written_region(writer, buffer, loop, &conditions);
  const auto read = read_region(reader, reader.bindings, buffer, view);
  return precedes(writer, reader) && written && conditions.empty() && read &&
         covers_within(*written, *read, buffer, view.analyzer);
}

/// `carried`: the loop finishes what the block writes, not an iteration of it.
std::optional<Refusal> readers_refusal(const Stage& scaled, const Loop& loop, bool carried) {
  for (const Block* reader : scaled.uses.readers) {
    const bool inside = is_ancestor(loop, *reader);
    if (carried && inside)
      return Refusal{"a block in the loop reads a sum that the loop has not finished", reader->name, reader};
    if (!carried && !inside)
      return Refusal{"a block outside the loop reads what the maximum scales", reader->name, reader};
    // An earlier iteration scales by another maximum.
    if (!carried && !reads_its_iteration(*reader, *scaled.block, scaled.buffer, loop))
      return Refusal{"a block reads what other iterations of the loop scale", reader->name, reader};
  }
  return std::nullopt;
}

std::optional<Refusal> scaled_refusal(const Program& program, Block& block, OnlineMaximum* plan) {
  Stage stage;
  if (auto refusal = stage_refusal(program, block, &stage)) return refusal;
  const Store* store = body_store(block);
  ReductionPattern pattern;
  const bool sums =
      match_reduction(block, &pattern) && pattern.op == ExprKind::Add && pattern.init != nullptr;
  const Refusal refusal{"a block does not depend on the exponentials in proportion", block.name, &block};
  if (store == nullptr || store->mask || block.has_reduction() != sums || reduces_varying(block))
    return refusal;
  Scale scale(*plan);
  if (!scale.is_factor(sums ? pattern.term : store->value)) return refusal;
  for (const IterVar& iter : block.iters) {
    const auto uses = [&](const Expr& index) { return uses_var(index, iter.var); };
    if (iter.kind == IterKind::Reduction && std::any_of(scale.row().begin(), scale.row().end(), uses))
      return Refusal{"a sum runs over several maxima", block.name, &block};
  }
  const Loop* carrying = reduction_loop_around(block, *plan->loop);
  if (carrying != nullptr && carrying != plan->loop)
    return Refusal{"a loop further out carries the reduction", carrying->var->name, carrying};
  if (carrying == nullptr && is_output(program, stage.buffer))
    return Refusal{"the block writes an output of the program", stage.buffer->name, &block};
  if (auto refusal_of_reader = readers_refusal(stage, *plan->loop, carrying != nullptr))
    return refusal_of_reader;
  (carrying == nullptr ? plan->within : plan->sums).push_back({&block, stage.buffer, scale.row()});
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, OnlineMaximum* plan) {
  if (auto refusal = stage_refusal(program, block, &plan->maximum)) return refusal;
  ReductionPattern pattern;
  const Buffer& buffer = plan->maximum.buffer;
  if (!match_reduction(block, &pattern) || pattern.init == nullptr || pattern.op != ExprKind::Max ||
      !buffer->dtype.is_float())
    return Refusal{"the block is not a maximum of floating values", block.name, &block};
  if (reduces_varying(block)) return Refusal{"the steps of the reduction vary", block.name, &block};
  if (is_output(program, buffer))
    return Refusal{"the block writes an output of the program", buffer->name, &block};
  if (auto refusal = target_refusal(plan->maximum, *plan->loop)) return refusal;
  if (auto refusal = reader_refusal(plan)) return refusal;
  for (Block* other : program.blocks()) {
    const std::vector<Buffer> read = buffers_read(*other);
    const bool scaled = std::any_of(plan->within.begin(), plan->within.end(),
                                    [&](const ScaledBlock& one) { return contains(read, one.buffer); });
    if (!scaled && other != plan->reader) continue;
    if (auto refusal = scaled_refusal(program, *other, plan)) return refusal;
  }
  return std::nullopt;
}

/// Moves what `block`'s own loops contain before `anchor`, under `loops` in place of as many of its own.
void move_under(Block& block, std::span<Loop* const> loops, Stmt& anchor) {
  std::vector<Loop*> own = loops_above(block);
  own.resize(loops.size());
  std::vector<Var> vars;
  for (const Loop* loop : own) vars.push_back(loop->var);
  StmtPtr body = own.back()->take_body();
  Stmt* moved = body.get();
  take_out(*own.front());
  insert_before(anchor, std::move(body));
  for (size_t i = 0; i < loops.size(); ++i) replace_loop_var(*moved, vars[i], loops[i]->var, Expr());
}

/// Computes under the loop the maximum of an iteration, and the maximum so far. Returns the former.
BlockId split_maximum(Program& program, const OnlineMaximum& plan) {
  Block& block = *plan.maximum.block;
  std::vector<Loop*> around = loops_above(*plan.reader);
  const Substitution fresh = fresh_vars(around);
  std::vector<IterDomain> domains;
  for (const Loop* loop : around)
    domains.push_back({Var::from(*fresh.find(loop->var.get())), loop->const_extent()});
  StmtPtr taken = take_out(block);
  block.bindings = substitute(plan.bindings, fresh);
  block.predicate = substitute(plan.reader->predicate, fresh);
  insert_before(outermost_in_scope(*plan.reader), program.make_nest(domains, std::move(taken)));
  around.erase(std::find(around.begin(), around.end(), plan.loop) + 1, around.end());
  const BlockId partial = rfactor(program, loops_above(block)[around.size() - 1]->id, -1);
  Stmt& anchor = statement_towards(*plan.loop, *plan.reader);
  move_under(*program.find_block(partial), around, anchor);
  move_under(block, around, anchor);
  return partial;
}

/// The lowest number, not minus infinity: exp(x - maximum) of an x that is stays 0.
double lowest(DType type) {
  const int exponent = type.bits == 64 ? 1024 : type.scalar() == kF16 ? 16 : 128;
  return -std::ldexp(1 - unit_roundoff(type), exponent);
}

/// A copy of a nest of one block, which gets the name.
StmtPtr copy_nest(Program& program, Stmt& nest, const std::string& name, Block** copied) {
  Substitution fresh;
  StmtPtr copy = fresh_copy(program, nest, &fresh);
  *copied = find_first<Block>(*copy);
  (*copied)->name = program.fresh_block_name(name);
  return copy;
}

/// How much the maximum's exponentials shrink in an iteration.
Buffer add_scale(Program& program, const OnlineMaximum& plan) {
  const Block& block = *plan.maximum.block;
  const Buffer& maximum = plan.maximum.buffer;
  const Buffer scale =
      make_buffer(program.fresh_buffer_name(maximum->name + "_scale"), maximum->dtype, maximum->shape);
  program.intermediates.push_back(scale);
  Stmt& update = statement_towards(*plan.loop, *plan.maximum.block);
  Block* made = nullptr;
  StmtPtr copy = copy_nest(program, update, block.name + "_scale", &made);
  for (IterVar& iter : made->iters) {
    // The maximum so far is another in each iteration.
    if (iter.kind == IterKind::Reduction) iter.kind = IterKind::Opaque;
  }
  auto& store = *find_first<Store>(*made);
  store.value = call(MathOp::Exp, {load(maximum, store.indices) - store.value});
  store.buffer = scale;
  insert_before(update, std::move(copy));
  return scale;
}

/// Rescales what the sum has so far, directly behind the maximum.
void rescale(Program& program, const OnlineMaximum& plan, const ScaledBlock& sum, const Buffer& scale) {
  const Loop& loop = *plan.loop;
  Stmt* start = program.find_block(decompose_reduction(program, sum.block->id, loop.id));
  while (start->parent != loop.parent) start = start->parent;
  Block* made = nullptr;
  StmtPtr copy = copy_nest(program, *start, sum.block->name + "_scale", &made);
  Substitution iters;
  size_t next = 0;
  for (const IterVar& iter : sum.block->iters) {
    if (iter.kind != IterKind::Reduction) iters.set(iter.var, made->iters[next++].var);
  }
  auto& store = *find_first<Store>(*made);
  store.value =
      load(sum.buffer, store.indices) * cast(sum.buffer->dtype, load(scale, substitute(sum.row, iters)));
  made->iters.push_back({Var("v" + loop.var->name), loop.const_extent(), IterKind::Reduction});
  made->bindings.emplace_back(loop.var);
  insert_after(statement_towards(*plan.loop, *plan.maximum.block), std::move(copy));
}

}  // namespace

BlockId rolling_update(Program& program, BlockId block_id, LoopId loop_id) {
  Program changed = program.clone();  // steps may refuse
  OnlineMaximum plan;
  plan.loop = &loop_at(changed, loop_id, "rolling_update");
  Block& block = block_at(changed, block_id, "rolling_update");
  throw_refusal("rolling_update", changed, plan_refusal(changed, block, &plan));
  const BlockId partial = split_maximum(changed, plan);
  Block& init = *changed.find_block(decompose_reduction(changed, block_id, loop_id));
  find_first<Store>(init)->value = float_imm(lowest(plan.maximum.buffer->dtype), plan.maximum.buffer->dtype);
  const Buffer scale = add_scale(changed, plan);
  for (size_t i = plan.sums.size(); i-- > 0;) rescale(changed, plan, plan.sums[i], scale);
  program = std::move(changed);
  return partial;
}

KindPtr rolling_update_kind() {
  return make_transformation("rolling_update", rolling_update, {"block", "loop"});
}

BlockRV Schedule::rolling_update(BlockRV block, LoopRV loop) {
  return as_handle<BlockRV>(execute(kind("rolling_update"), {block, loop}));
}

}  // namespace tunesmith
