#include "measure/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/support/error.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {
namespace {

Expr abs_of(const Expr& value) {
  if (value.dtype().is_bool()) return cast(kF64, value);
  return value.dtype().is_float() ? call(MathOp::Abs, {value})
                                  : cast(kF64, max(value, constant(0.0, value.dtype()) - value));
}

/// Buffers of the program in f64, and their magnitudes.
class Twins {
 public:
  explicit Twins(const Program& program) {
    for (const Buffer& buffer : program.buffers()) {
      const DType wide = buffer->dtype.is_float() ? kF64 : buffer->dtype;
      values_[buffer.get()] = make_buffer(buffer->name, wide, buffer->shape);
      const bool input =
          std::find(program.inputs.begin(), program.inputs.end(), buffer) != program.inputs.end();
      if (!input) magnitudes_[buffer.get()] = make_buffer(buffer->name + "_magnitude", kF64, buffer->shape);
    }
  }

  const Buffer& value(const Buffer& buffer) const { return values_.at(buffer.get()); }
  /// Null for an input: its magnitude is its absolute value.
  const Buffer* magnitude(const Buffer& buffer) const {
    const auto found = magnitudes_.find(buffer.get());
    return found == magnitudes_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<const BufferNode*, Buffer> values_;
  std::unordered_map<const BufferNode*, Buffer> magnitudes_;
};

/// `expr` with floats in f64 and buffers replaced.
Expr widened(const Expr& expr, const Twins& twins) {
  if (const FloatImm* number = expr.as<FloatImm>()) return float_imm(number->value, kF64);
  if (const LoadNode* access = expr.as<LoadNode>()) {
    std::vector<Expr> indices;
    for (const Expr& index : access->indices()) indices.push_back(widened(index, twins));
    return load(twins.value(access->buffer), std::move(indices),
                access->mask() ? widened(access->mask(), twins) : Expr());
  }
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  for (const Expr& arg : expr.args()) args.push_back(widened(arg, twins));
  if (expr.is(ExprKind::Cast)) return cast(expr.dtype().is_float() ? kF64 : expr.dtype(), args[0]);
  return with_args(expr, std::move(args));
}

/// |f'(x)| as an expression of x (and of f(x), when that is simpler).
Expr derivative(MathOp op, const Expr& x, const Expr& fx) {
  const auto number = [](double value) { return float_imm(value, kF64); };
  switch (op) {
    case MathOp::Exp:
      return fx;
    case MathOp::Log:
      return div(number(1.0), call(MathOp::Abs, {x}));
    case MathOp::Sqrt:
      return div(number(0.5), max(fx, number(1e-150)));
    case MathOp::Rsqrt:
      return div(fx, call(MathOp::Abs, {x}) * number(2.0));
    case MathOp::Erf:
      return number(2.0 * std::numbers::inv_sqrtpi);
    case MathOp::Sigmoid:
    case MathOp::Tanh:
    case MathOp::Abs:
      return number(1.0);
    case MathOp::Floor:
    case MathOp::Ceil:
      return number(0.0);
    case MathOp::Pow:
      break;  // two arguments: in magnitude_of
  }
  throw InternalError("a function without a derivative");
}

Expr magnitude_of(const Expr& expr, const Twins& twins) {
  const auto value = [&](const Expr& part) { return widened(part, twins); };
  const auto below = [&](size_t i) { return magnitude_of(expr.arg(i), twins); };
  if (!expr.dtype().is_float()) return abs_of(value(expr));
  switch (expr.kind()) {
    case ExprKind::FloatImm: {
      // The identity of a maximum is infinite and no part of the result.
      const double number = std::abs(expr.as<FloatImm>()->value);
      return float_imm(number < 1e30 ? number : 0.0, kF64);
    }
    case ExprKind::Load: {
      const LoadNode& access = *expr.as<LoadNode>();
      const Buffer* magnitude = twins.magnitude(access.buffer);
      if (magnitude == nullptr) return abs_of(value(expr));
      std::vector<Expr> indices;
      for (const Expr& index : access.indices()) indices.push_back(value(index));
      return load(*magnitude, std::move(indices), access.mask() ? value(access.mask()) : Expr());
    }
    case ExprKind::Add:
    case ExprKind::Sub:
      return below(0) + below(1);
    case ExprKind::Mul:
      return below(0) * below(1);
    case ExprKind::Div: {
      const Expr divisor = abs_of(value(expr.arg(1)));
      return div(below(0), divisor) + div(abs_of(value(expr.arg(0))) * below(1), divisor * divisor);
    }
    case ExprKind::Min:
    case ExprKind::Max:
      return max(below(0), below(1));
    case ExprKind::Select:
      return select(value(expr.arg(0)), below(1), below(2));
    case ExprKind::Cast:
      return below(0);
    case ExprKind::Call: {
      const CallNode& function = *expr.as<CallNode>();
      const Expr result = value(expr);
      if (function.op == MathOp::Pow) {
        // d(x^y) = x^y (y dx / x + log|x| dy)
        const Expr x = max(abs_of(value(expr.arg(0))), float_imm(1e-150, kF64));
        const Expr y = abs_of(value(expr.arg(1)));
        return abs_of(result) *
               (float_imm(1.0, kF64) + div(y * below(0), x) + abs_of(call(MathOp::Log, {x})) * below(1));
      }
      return abs_of(result) + derivative(function.op, value(expr.arg(0)), result) * below(0);
    }
    default:
      return abs_of(value(expr));
  }
}

/// The statement in f64, followed by the one that computes the magnitude.
void widen(Stmt& stmt, const Twins& twins) {
  Store* store = stmt.as<Store>();
  if (store == nullptr) {
    std::vector<Stmt*> children;
    for_each_child(stmt, [&](Stmt& child) { children.push_back(&child); });
    if (Block* block = stmt.as<Block>()) block->predicate = widened(block->predicate, twins);
    for (Stmt* child : children) widen(*child, twins);
    return;
  }
  std::vector<Expr> indices;
  for (const Expr& index : store->indices) indices.push_back(widened(index, twins));
  auto pair = std::make_unique<Seq>();
  // The magnitude first: an accumulation reads the value it updates.
  pair->append(
      std::make_unique<Store>(*twins.magnitude(store->buffer), indices, magnitude_of(store->value, twins)));
  pair->append(std::make_unique<Store>(twins.value(store->buffer), indices, widened(store->value, twins)));
  replace(stmt, std::move(pair));
}

/// A refused step leaves the schedule as it is, which is right, too.
template <typename Step>
void attempt(const Step& step) {
  try {
    step();
  } catch (const ScheduleError&) {  // NOLINT(bugprone-empty-catch): the reference is only slower
  }
}

}  // namespace

Program reference_program(const Program& program) {
  Program reference = program.clone();
  const Twins twins(program);
  widen(reference.root(), twins);
  const auto replaced = [&](std::vector<Buffer>& buffers) {
    for (Buffer& buffer : buffers) buffer = twins.value(buffer);
  };
  replaced(reference.inputs);
  replaced(reference.outputs);
  replaced(reference.intermediates);
  for (const Buffer& output : program.outputs) reference.outputs.push_back(*twins.magnitude(output));
  for (const Buffer& buffer : program.intermediates)
    reference.intermediates.push_back(*twins.magnitude(buffer));
  return reference;
}

Program in_fast_order(const Program& reference) {
  Schedule schedule(reference);
  for (const Block* block : reference.blocks()) {
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block(block->name));
    const auto is_spatial = [&](size_t i) { return block->iters[i].kind == IterKind::Spatial; };
    if (loops.size() != block->iters.size() || loops.empty() || !is_spatial(0)) continue;
    size_t last = loops.size() - 1;
    while (!is_spatial(last)) --last;
    if (last > 0 && last + 1 < loops.size()) {
      std::vector<LoopRV> order(loops.begin() + static_cast<std::ptrdiff_t>(last) + 1, loops.end());
      order.push_back(loops[last]);
      attempt([&] { schedule.reorder(order); });
    }
    size_t outermost = 0;
    while (outermost < last && block->iters[outermost].extent == 1) ++outermost;
    if (is_spatial(outermost)) attempt([&] { schedule.parallel(loops[outermost]); });
  }
  return schedule.program().clone();
}

double error_unit(const Program& program) {
  double terms = 1.0;
  double roundoff = 0.0;
  for (const Block* block : program.blocks()) {
    double reduction = 1.0;
    for (const IterVar& iter : block->iters) {
      if (iter.kind == IterKind::Reduction) reduction *= static_cast<double>(iter.extent);
    }
    terms += reduction;
    for (const Access& write : writes_of(*block))
      roundoff = std::max(roundoff, unit_roundoff(write.buffer->dtype));
  }
  return roundoff * std::sqrt(terms);
}

}  // namespace tunesmith
