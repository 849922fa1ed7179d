#include "reference/small_statements.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Expressions of about this many nodes compile in a second.
constexpr double kMaxNodes = 20000.0;

/// Smaller parts are not moved.
constexpr double kFewNodes = 16.0;

/// How often the bound of an operation has those of its operands, on data of integers (error_bound.cpp).
double copies(ExprKind kind) {
  switch (kind) {
    case ExprKind::Add:
    case ExprKind::Sub:
      return 2.0;
    case ExprKind::Div:
    case ExprKind::Min:
    case ExprKind::Max:
      return 12.0;
    default:
      return 4.0;
  }
}

double nodes(const Expr& expr) {
  double count = 0.0;
  walk_expr(expr, [&](const Expr&) { ++count; });
  return count;
}

/// Moves parts of one store's value into stages before it.
class Parts {
 public:
  Parts(Program& program, const Store& store, size_t nest, DataKind data)
      : twins_(program, data),
        program_(program),
        block_(*enclosing_block(store)),
        store_(store),
        nest_(nest) {}

  /// `expr` with parts moved out until its bound has at most kMaxNodes, as far as they can be moved.
  Expr small(const Expr& expr, bool guarded) {
    if (expr.args().empty() || expr.is(ExprKind::Load)) return expr;
    std::vector<Expr> args;
    for (size_t i = 0; i < expr.args().size(); ++i)
      args.push_back(small(expr.arg(i), guarded || (expr.is(ExprKind::Select) && i > 0)));
    Expr result = with_args(expr, args);
    while (bound_nodes(result) > kMaxNodes) {
      const auto largest = std::ranges::max_element(args, {}, [&](const Expr& arg) {
        return movable(arg, guarded || expr.is(ExprKind::Select)) ? bound_nodes(arg) : -1.0;
      });
      if (!movable(*largest, guarded || expr.is(ExprKind::Select))) break;
      *largest = stage_of(*largest);
      result = with_args(expr, args);
    }
    return result;
  }

  /// Stages that were put before the statement.
  size_t stages() const { return stages_; }

 private:
  double bound_nodes(const Expr& expr) const {
    if (is_own(expr) || twins_.exact(expr)) return nodes(expr);
    double operands = 0.0;
    for (const Expr& arg : expr.args()) operands += bound_nodes(arg);
    return copies(expr.kind()) * operands + nodes(expr);
  }
  bool is_own(const Expr& expr) const {
    const LoadNode* access = expr.as<LoadNode>();
    return access != nullptr && std::ranges::find(moved_, access->buffer) != moved_.end();
  }
  /// A part cannot be moved if it stands behind a condition that may guard its loads, or reads what its own
  /// nest computes.
  bool movable(const Expr& expr, bool guarded) const {
    if (!expr.dtype().is_float() || expr.args().empty() || expr.is(ExprKind::Load)) return false;
    bool may = true;
    walk_expr(expr, [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      if (access != nullptr && (guarded || access->buffer == store_.buffer)) may = false;
    });
    return may;
  }

  /// Computes `part` for all iterations before the statement; returns a load of it.
  Expr stage_of(const Expr& part) {
    Substitution renamed;
    std::vector<IterDomain> domains;
    for (const Loop* loop : loops_above(block_)) {
      domains.push_back({Var(loop->var->name), loop->const_extent()});
      renamed.set(loop->var, domains.back().var);
    }
    const std::vector<Expr> bindings = substitute(block_.bindings, renamed);
    std::vector<IterVar> iters;
    std::vector<Expr> here;
    std::vector<Expr> there;
    std::vector<int64_t> shape;
    for (const IterVar& iter : block_.iters) {
      iters.push_back({Var(iter.var->name), iter.extent, iter.kind});
      renamed.set(iter.var, iters.back().var);
      here.push_back(iter.var);
      there.push_back(iters.back().var);
      shape.push_back(iter.extent);
    }
    const Buffer buffer =
        make_buffer(program_.fresh_buffer_name(store_.buffer->name + "_part"), part.dtype(), shape);
    std::unique_ptr<Block> block =
        program_.make_block(buffer->name, std::move(iters), bindings, nullptr,
                            std::make_unique<Store>(buffer, there, substitute(part, renamed)));
    block->predicate = substitute(block_.predicate, renamed);
    program_.intermediates.push_back(buffer);
    program_.root().insert(nest_ + stages_++, program_.make_nest(domains, std::move(block)));
    moved_.push_back(buffer);
    return load(buffer, here);
  }

  const Twins twins_;
  Program& program_;
  const Block& block_;
  const Store& store_;
  const size_t nest_;  // index of the statement's nest in the root
  size_t stages_ = 0;
  std::vector<Buffer> moved_;
};

bool is_spatial(const IterVar& iter) { return iter.kind == IterKind::Spatial; }

}  // namespace

Program with_small_statements(const Program& program, DataKind data) {
  Program small = program.clone();
  if (!program.parameters.empty()) return small;  // the parts would need extents for each value
  for (size_t nest = 0; nest < small.root().children().size(); ++nest) {
    std::vector<Store*> stores;
    walk(*small.root().children()[nest], [&](Stmt& stmt) {
      if (Store* store = stmt.as<Store>()) stores.push_back(store);
    });
    if (stores.size() != 1 || nodes(stores.front()->value) < kFewNodes) continue;
    const Block* block = enclosing_block(*stores.front());
    if (block == nullptr || !std::ranges::all_of(block->iters, is_spatial)) continue;
    Parts parts(small, *stores.front(), nest, data);
    stores.front()->value = parts.small(stores.front()->value, false);
    nest += parts.stages();
  }
  return small;
}

}  // namespace tunesmith
