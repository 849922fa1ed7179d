#include "tunesmith/verification/reference_twins.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// For stores that initialise separately.
struct BufferStores {
  std::vector<const Store*> updates;
  std::vector<const Store*> inits;
};

namespace {

/// Does the function return a value of its operand's type, the same bits on every target?
bool is_rounding(MathOp op) {
  return op == MathOp::Abs || op == MathOp::Floor || op == MathOp::Ceil || op == MathOp::RoundEven ||
         op == MathOp::RoundTf32;
}

/// Does the function map ordinary numbers to values orders of magnitude apart?
bool is_steep(MathOp op) {
  return op == MathOp::Exp || op == MathOp::Sigmoid || op == MathOp::Erf || op == MathOp::Pow ||
         op == MathOp::Rsqrt;
}

double terms_of(const Block& block) {
  double terms = 1.0;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Reduction) terms *= static_cast<double>(iter.extent);
  }
  return terms;
}

bool is_zero(const Expr& expr) {
  const FloatImm* number = expr.as<FloatImm>();
  return number != nullptr && number->value == 0.0;
}

/// For positive terms t, partial sums s grow to terms * t, and the additions lose about terms * (u * s)^2 / t
/// in one direction. Below a few percent of their random loss, this is ignored.
bool may_drift(double terms, double unit) { return std::pow(terms, 1.5) * unit > 0.1; }

bool is_sum(const BufferStores& stores) {
  return stores.updates.size() == 1 && stores.inits.size() == 1 && is_zero(stores.inits.front()->value) &&
         summand(*stores.updates.front());
}

std::unordered_map<const BufferNode*, BufferStores> stores_by_buffer(const Program& program) {
  std::unordered_map<const BufferNode*, BufferStores> stores;
  for (const Buffer& buffer : program.buffers()) stores[buffer.get()];
  walk(program.root(), [&](const Stmt& stmt) {
    const Store* store = stmt.as<Store>();
    if (store == nullptr) return;
    const Block* block = enclosing_block(*store);
    const bool init = block != nullptr && block->init() != nullptr && is_ancestor(*block->init(), *store);
    BufferStores& of = stores[store->buffer.get()];
    (init ? of.inits : of.updates).push_back(store);
  });
  return stores;
}

}  // namespace

bool holds_all_of(DType to, DType from) {
  if (!to.is_float()) return true;
  if (!from.is_float()) return from.is_bool() || std::ldexp(1.0, from.bits) <= 1.0 / unit_roundoff(to);
  // Neither 16-bit type contains the other.
  return to.scalar() == from.scalar() || to.bits > from.bits;
}

DType coarsest_arithmetic(const Expr& expr) {
  DType coarsest = kF64;
  walk_expr(expr, [&](const Expr& part) {
    const bool arithmetic = part.is(ExprKind::Add) || part.is(ExprKind::Sub) || part.is(ExprKind::Mul);
    if (arithmetic && unit_roundoff(part.dtype()) > unit_roundoff(coarsest)) coarsest = part.dtype();
  });
  return coarsest;
}

Expr summand(const Store& store) {
  const Block* block = enclosing_block(store);
  if (!store.buffer->dtype.is_float() || !store.value.is(ExprKind::Add) || block == nullptr ||
      !block->has_reduction())
    return {};
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const LoadNode* self = store.value.arg(side).as<LoadNode>();
    if (self != nullptr && self->buffer == store.buffer && !self->mask() &&
        std::equal(self->indices().begin(), self->indices().end(), store.indices.begin(), store.indices.end(),
                   equal))
      return store.value.arg(1 - side);
  }
  return {};
}

Twins::Twins(const Program& program, DataKind data) : data_(data) {
  const std::unordered_map<const BufferNode*, BufferStores> stores = stores_by_buffer(program);
  find_facts(program, stores);
  for (const Buffer& buffer : program.buffers()) {
    BufferTwins& twins = twins_[buffer.get()];
    twins.value = make_buffer(buffer->name, buffer->dtype.is_float() ? kF64 : buffer->dtype, buffer->shape);
    if (exact_.at(buffer.get())) continue;
    twins.bound = make_buffer(buffer->name + "_bound", kF64, buffer->shape);
    const BufferStores& of = stores.at(buffer.get());
    if (is_sum(of)) twins.sum = sum_twins(buffer, *of.updates.front());
  }
}

void Twins::find_facts(const Program& program,
                       const std::unordered_map<const BufferNode*, BufferStores>& stores) {
  std::vector<Buffer> computed = program.outputs;
  computed.insert(computed.end(), program.intermediates.begin(), program.intermediates.end());
  // Assumes all facts until one is refuted, and then checks its readers again.
  for (const Buffer& buffer : program.buffers()) {
    exact_[buffer.get()] = true;
    integral_[buffer.get()] = data_ == DataKind::Exact && buffer->dtype.is_float();
    spreads_[buffer.get()] = false;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Buffer& buffer : computed) {
      const BufferStores& of = stores.at(buffer.get());
      const auto all = [&](const auto& holds) {
        const auto of_value = [&](const Store* store) { return holds(store->value); };
        return std::all_of(of.updates.begin(), of.updates.end(), of_value) &&
               std::all_of(of.inits.begin(), of.inits.end(), of_value);
      };
      bool& is_exact = exact_[buffer.get()];
      bool& is_integral = integral_[buffer.get()];
      bool& is_spread = spreads_[buffer.get()];
      const bool was_exact = is_exact;
      const bool was_integral = is_integral;
      const bool was_spread = is_spread;
      is_exact = is_exact && all([&](const Expr& value) { return exact(value); });
      is_integral = is_integral && all([&](const Expr& value) { return integral(value); });
      is_spread = is_spread || !all([&](const Expr& value) { return !spreads(value); });
      changed = changed || is_exact != was_exact || is_integral != was_integral || is_spread != was_spread;
    }
  }
}

SumTwins Twins::sum_twins(const Buffer& buffer, const Store& update) const {
  const auto beside = [&](const char* what) {
    return make_buffer(buffer->name + "_" + what, kF64, buffer->shape);
  };
  const Expr term = summand(update);
  SumTwins sum;
  sum.integral = integral(term);
  sum.counts_in = coarsest_arithmetic(update.value);
  sum.terms = terms_of(*enclosing_block(update));
  const bool narrow = buffer->dtype.bits < 32;
  // Terms of few different values round the same way again and again, as do those of a narrow type.
  sum.linear = narrow || data_ != DataKind::Random;
  const bool uneven = !sum.integral && spreads(term);
  if (uneven) sum.lost = beside("lost");
  sum.drifts = !sum.linear && !uneven && may_drift(sum.terms, unit_roundoff(buffer->dtype));
  if (data_ == DataKind::Exact) sum.magnitude = beside("magnitude");
  if (!sum.integral) {
    sum.squares = beside("squares");
    sum.roundings = beside("roundings");
    if (narrow) sum.count = beside("count");
  }
  bool exact_leaves = true;
  walk_expr(term, [&](const Expr& part) {
    if (part.is(ExprKind::Load) && !exact(part)) exact_leaves = false;
  });
  if (!exact_leaves || sum.drifts || (narrow && !sum.integral)) sum.errors = beside("errors");
  return sum;
}

Expr Twins::value(const Expr& expr) const {
  if (const FloatImm* number = expr.as<FloatImm>()) return float_imm(number->value, kF64);
  if (const LoadNode* access = expr.as<LoadNode>()) {
    std::vector<Expr> indices;
    for (const Expr& index : access->indices()) indices.push_back(value(index));
    return load(of(access->buffer).value, std::move(indices),
                access->mask() ? value(access->mask()) : Expr());
  }
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  for (const Expr& arg : expr.args()) args.push_back(value(arg));
  if (expr.is(ExprKind::Cast)) return cast(expr.dtype().is_float() ? kF64 : expr.dtype(), args[0]);
  return with_args(expr, std::move(args));
}

Expr exact_factor(const Expr& expr) {
  if (expr.dtype().scalar() == kBF16) return {};
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const FloatImm* factor = expr.arg(side).as<FloatImm>();
    if (factor != nullptr && std::abs(factor->value) == 1.0) return expr.arg(1 - side);
  }
  return {};
}

bool Twins::exact(const Expr& expr) const {
  if (const LoadNode* access = expr.as<LoadNode>()) {
    const auto found = exact_.find(access->buffer.get());
    if (found != exact_.end() && !found->second) return false;
  }
  if (expr.is(ExprKind::Cast) && !holds_all_of(expr.dtype(), expr.arg(0).dtype())) return false;
  if (expr.dtype().is_float()) {
    switch (expr.kind()) {
      case ExprKind::Add:
      case ExprKind::Sub:
      case ExprKind::Div:
        return false;
      case ExprKind::Mul:
        if (!exact_factor(expr)) return false;
        break;
      case ExprKind::Call: {
        if (!is_rounding(expr.as<CallNode>()->op)) return false;
        break;
      }
      default:
        break;
    }
  }
  return std::all_of(expr.args().begin(), expr.args().end(), [&](const Expr& arg) { return exact(arg); });
}

bool Twins::spreads(const Expr& expr) const {
  bool found = false;
  walk_expr(expr, [&](const Expr& part) {
    if (const LoadNode* access = part.as<LoadNode>()) found = found || spreads_.at(access->buffer.get());
    if (const CallNode* function = part.as<CallNode>()) found = found || is_steep(function->op);
    found = found || (part.is(ExprKind::Div) && part.dtype().is_float() && !part.arg(1).args().empty());
  });
  return found;
}

bool Twins::integral(const Expr& expr) const {
  if (data_ != DataKind::Exact || !expr.dtype().is_float()) return false;
  const auto of_args = [&](size_t first) {
    return std::all_of(expr.args().begin() + static_cast<std::ptrdiff_t>(first), expr.args().end(),
                       [&](const Expr& arg) { return integral(arg); });
  };
  switch (expr.kind()) {
    case ExprKind::FloatImm: {
      const double number = expr.as<FloatImm>()->value;
      return std::isfinite(number) && std::floor(number) == number;
    }
    case ExprKind::Load:
      return integral_.at(expr.as<LoadNode>()->buffer.get());  // holds for all elements of the buffer
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Min:
    case ExprKind::Max:
      return of_args(0);
    case ExprKind::Select:
      return exact(expr.arg(0)) && of_args(1);
    case ExprKind::Cast:
      return holds_all_of(expr.dtype(), expr.arg(0).dtype()) &&
             (expr.arg(0).dtype().is_float() ? integral(expr.arg(0)) : exact(expr.arg(0)));
    case ExprKind::Call:
      return is_rounding(expr.as<CallNode>()->op) && of_args(0);
    default:
      return false;
  }
}

}  // namespace tunesmith
