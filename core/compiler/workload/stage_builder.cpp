#include "workload/stage_builder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/reads_memory.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith::workload {

namespace {

/// A block that runs for years is a mistake in a shape.
constexpr double kMaxIterations = 0x1p50;

Place first_place(const Syntax& syntax) {
  return syntax.kind == SyntaxKind::Binary ? first_place(*syntax.args[0]) : syntax.place;
}

ExprKind reduction_kind(const std::string& name) {
  if (name == "sum") return ExprKind::Add;
  if (name == "prod") return ExprKind::Mul;
  return name == "max" ? ExprKind::Max : ExprKind::Min;
}

/// The prefix of reductions that give the position of the result, as in argmax.
constexpr std::string_view kPositionOf = "arg";

bool is_position(std::string_view reduction) { return reduction.starts_with(kPositionOf); }

void collect_names(const Syntax& syntax, std::set<std::string>& names) {
  if (syntax.kind == SyntaxKind::Name) names.insert(syntax.name);
  for (const SyntaxPtr& arg : syntax.args) collect_names(*arg, names);
}

Expr extent_of(const BufferNode& buffer, size_t dimension) {
  const bool varies = !buffer.extents.empty() && buffer.extents[dimension];
  return varies ? buffer.extents[dimension] : int_imm(buffer.shape[dimension]);
}

/// A loaded index is clamped to the valid range.
bool is_contents(const Syntax& index) { return index.kind == SyntaxKind::Call && index.name == "at"; }
bool multiplies_axes(const Expr& expr) {
  return any_of_expr(expr, [](const Expr& part) {
    return part.is(ExprKind::Mul) && !part.arg(0).is(ExprKind::IntImm) && !part.arg(1).is(ExprKind::IntImm);
  });
}

}  // namespace

StageBuilder::StageBuilder(BuildState& state, std::string target, Place place, std::vector<Axis> spatial)
    : Evaluator(state.definition.file, state.names),
      state_(state),
      target_(std::move(target)),
      place_(place),
      axes_(std::move(spatial)),
      spatial_(axes_.size()) {
  for (const Axis& axis : axes_) bind(axis);
}

void StageBuilder::bind(const Axis& axis) {
  prover_.bind(axis.var, axis.extent.most);
  if (axis.extent.varying) prover_.assume(lt(axis.var, axis.extent.varying), true);
}

Buffer StageBuilder::build(const Syntax& value) {
  return value.kind == SyntaxKind::Reduce ? build(value, value.name) : build_elementwise(value);
}

Buffer StageBuilder::build(const Syntax& reduction, const std::string& kind) {
  return is_position(kind) ? build_position(reduction, kind) : build_reduction(reduction, kind);
}

Buffer StageBuilder::build_elementwise(const Syntax& value) {
  const Expr expr = rules().typed(first_place(value), evaluate(value));
  return emit(expr.dtype(), expr, nullptr);
}

/// Adds all reduction axes and returns the term.
Expr StageBuilder::term_of(const Syntax& reduction) {
  add_reduction_axes(reduction);
  const Syntax& body = *reduction.args[0];
  Expr term = rules().typed(first_place(body), evaluate(body));
  if (term.dtype().is_bool()) {
    rules().fail(reduction.place, fmt::format("{} reduces numbers, not conditions", reduction.name),
                 "count with select(condition, i32(1), 0)");
  }
  for (size_t i = spatial_; i < axes_.size(); ++i) {
    if (!axes_[i].used) {
      rules().fail(axes_[i].place,
                   fmt::format("axis '{}' is not used in what {} reduces", axes_[i].name, reduction.name),
                   "remove it, or multiply with its extent");
    }
  }
  return term;
}

Buffer StageBuilder::build_reduction(const Syntax& reduction, const std::string& name) {
  const Expr term = term_of(reduction);
  const ExprKind kind = reduction_kind(name);
  return emit(term.dtype(), term, &kind);
}

/// The least position whose value equals the extreme, which an earlier stage computes.
Buffer StageBuilder::build_position(const Syntax& reduction, const std::string& name) {
  if (reduction.axes.size() != 1)
    rules().fail(reduction.place, fmt::format("{} takes one axis, found {}", name, reduction.axes.size()));
  const Operand extreme = reduce_by(reduction, name.substr(kPositionOf.size()));
  const Expr term = term_of(reduction);
  const Axis& axis = axes_.back();
  const Expr position = tunesmith::select(eq(term, extreme.expr), axis.var, axis.extent.expr() - 1);
  const ExprKind least = ExprKind::Min;
  return emit(kI64, tunesmith::cast(kI64, position), &least);
}

void StageBuilder::add_reduction_axes(const Syntax& reduction) {
  for (const AxisSyntax& syntax : reduction.axes) {
    const bool twice =
        std::any_of(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.name == syntax.name; });
    if (twice)
      rules().fail(syntax.place,
                   fmt::format("'{0}' is an axis of what is computed here, and {1} needs one of its own",
                               syntax.name, reduction.name),
                   fmt::format("rename it, for example {0}({1}2<extent), and read with {1}2", reduction.name,
                               syntax.name));
    axes_.push_back(resolve_axis(state_, syntax));
    bind(axes_.back());
  }
}

Buffer StageBuilder::emit(DType dtype, const Expr& value, const ExprKind* reduction) {
  std::vector<int64_t> shape;
  std::vector<Expr> extents;
  bool vary = false;
  std::vector<Expr> at;
  std::vector<IterVar> iters;
  std::vector<Var> loops;
  std::vector<Expr> bindings;
  double iterations = 1.0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (i < spatial_) {
      shape.push_back(axis.extent.most);
      extents.push_back(axis.extent.varying);
      vary = vary || axis.extent.varying;
      at.emplace_back(axis.var);
    }
    iters.push_back({axis.var, axis.extent.most, i < spatial_ ? IterKind::Spatial : IterKind::Reduction});
    loops.emplace_back(axis.var->name.substr(1));
    bindings.emplace_back(loops.back());
    iterations *= static_cast<double>(axis.extent.most);
  }
  check_elements(rules(), place_, target_, shape);
  if (iterations > kMaxIterations) {
    rules().fail(place_, fmt::format("'{}' takes {:.3g} steps to compute", target_, iterations),
                 "at most 2^50 are accepted");
  }

  if (!vary) extents.clear();
  std::vector<int64_t> strides = strides_of(state_, target_, shape, extents);
  const Buffer buffer = with_extents(
      make_buffer(target_, dtype, shape, kScopeGlobal, false, std::move(strides)), std::move(extents));
  StmtPtr init;
  Expr stored = value;
  if (reduction) {
    init = std::make_unique<Store>(buffer, at, reduction_identity(*reduction, dtype));
    stored = binary(*reduction, load(buffer, at), value);
  }
  auto store = std::make_unique<Store>(buffer, at, stored);
  check_steps(*store);
  Program& program = state_.program;
  StmtPtr nest =
      program.make_block(target_, std::move(iters), std::move(bindings), std::move(init), std::move(store));
  for (size_t i = axes_.size(); i-- > 0;)
    nest = program.make_loop(loops[i], axes_[i].extent.most, std::move(nest));
  program.root().append(std::move(nest));
  state_.buffers[target_] = {buffer, place_, false};
  state_.computed.push_back(target_);
  return buffer;
}

/// Requires that steps beyond a varying extent access no element.
void StageBuilder::check_steps(const Store& store) const {
  const std::vector<Expr> parts = conjuncts(existence(store));
  for (const Axis& axis : axes_) {
    if (!axis.extent.varying) continue;
    const Expr wanted = lt(axis.var, axis.extent.varying);
    if (std::ranges::any_of(parts, [&](const Expr& part) { return equal(part, wanted); })) continue;
    rules().fail(
        axis.place,
        fmt::format("the extent of axis '{}' varies, but no element that is always read has its index",
                    axis.name),
        fmt::format("read a buffer of extent {} at [{}]", axis.extent.text(), axis.name));
  }
}

Operand StageBuilder::name(const Syntax& syntax) {
  const auto axis =
      std::find_if(axes_.begin(), axes_.end(), [&](const Axis& each) { return each.name == syntax.name; });
  if (axis != axes_.end()) {
    axis->used = true;
    return Operand::of(axis->var, static_cast<double>(axis->extent.most - 1));
  }
  if (const auto buffer = state_.buffers.find(syntax.name); buffer != state_.buffers.end()) {
    rules().fail(syntax.place, fmt::format("'{}' is a buffer", syntax.name),
                 fmt::format("read an element: {}[...] with {} indices", syntax.name,
                             buffer->second.buffer->shape.size()));
  }
  if (names().contains(syntax.name) || DType::parse(syntax.name) || syntax.name == "true" ||
      syntax.name == "false" || syntax.name == "inf") {
    return Evaluator::name(syntax);
  }
  std::vector<std::string> known;
  for (const Axis& each : axes_) {
    if (!each.name.empty()) known.push_back(each.name);
  }
  for (const std::string& each : known_names()) known.push_back(each);
  rules().fail(syntax.place, fmt::format("'{}' is not defined", syntax.name), suggest(syntax.name, known));
}

BuildState::Known& StageBuilder::find_buffer(const Syntax& access) {
  if (const auto found = state_.buffers.find(access.name); found != state_.buffers.end()) {
    found->second.read = true;
    return found->second;
  }
  for (const StatementSyntax& statement : state_.definition.statements) {
    if (statement.target != access.name) continue;
    if (statement.target == target_)
      rules().fail(access.place, fmt::format("'{}' is read in its own statement", target_));
    rules().fail(access.place, fmt::format("'{}' is read before it is computed", access.name),
                 fmt::format("move its statement, in line {}, above this one", statement.place.line));
  }
  if (names().contains(access.name)) {
    rules().fail(access.place, fmt::format("'{}' is a parameter, not a buffer", access.name));
  }
  std::vector<std::string> known;
  for (const auto& [each, buffer] : state_.buffers) known.push_back(each);
  rules().fail(access.place, fmt::format("unknown buffer '{}'", access.name), suggest(access.name, known));
}

/// at(value): the nearest valid index, computed in the value's type, which may be wider than an index.
Expr StageBuilder::data_index(const Syntax& syntax, int64_t most, const Expr& extent) {
  expect_arguments(syntax, 1);
  const Operand value = evaluate(*syntax.args[0]);
  if (value.kind == Operand::Kind::Integer)
    return min(int_imm(std::max<int64_t>(value.integer, 0)), extent - 1);
  if (!value.is_typed() || !value.type.is_int())
    rules().fail(first_place(*syntax.args[0]), fmt::format("at takes an integer, found {}", value.describe()),
                 "cast it: i64(...)");
  const DType type = value.expr.dtype();
  const int magnitude_bits = type.is_signed_int() ? type.bits - 1 : type.bits;
  Expr nearest = value.expr;
  if (type.is_signed_int()) nearest = max(nearest, int_imm(0, type));
  const bool holds = magnitude_bits >= 63 || most < int64_t{1} << magnitude_bits;
  const bool varies = !extent.is(ExprKind::IntImm);
  if (holds) nearest = min(nearest, varies ? tunesmith::cast(type, extent - 1) : int_imm(most - 1, type));
  return varies && !holds ? min(tunesmith::cast(kIndex, nearest), extent - 1)
                          : tunesmith::cast(kIndex, nearest);
}

Expr StageBuilder::index(const Syntax& syntax) {
  const Operand value = evaluate(syntax);
  const Place place = first_place(syntax);
  if (value.magnitude > kMaxMagnitude) rules().fail(place, "this index may exceed 2^53");
  if (value.kind == Operand::Kind::Integer) return int_imm(value.integer);
  if (value.kind == Operand::Kind::Real) {
    rules().fail(place, "expected an integer index, found a fraction", "divide indices with '//'");
  }
  if (value.is_typed() && reads_memory(value.expr)) {
    rules().fail(place, "an index cannot depend on a buffer's contents",
                 "write at(...), which clamps the index to the buffer's bounds");
  }
  if (!value.is_typed() || value.type != kI64) {
    rules().fail(place, fmt::format("expected an integer index, found {}", value.describe()),
                 "expected axes and parameters");
  }
  if (multiplies_axes(value.expr)) {
    rules().fail(place, "an index multiplies two axes", "an axis may be multiplied by parameters only");
  }
  return prover_.simplify(tunesmith::cast(kIndex, value.expr));
}

std::vector<Expr> StageBuilder::indices(const Syntax& access, const Buffer& buffer) {
  const size_t rank = buffer->shape.size();
  if (access.args.size() != rank) {
    rules().fail(access.place,
                 fmt::format("'{}' has {} dimension{}, but {} given", access.name, rank, rank == 1 ? "" : "s",
                             access.args.size() == 1 ? "1 index is"
                                                     : fmt::format("{} indices are", access.args.size())),
                 fmt::format("its shape is [{}]", fmt::join(buffer->shape, ", ")));
  }
  std::vector<Expr> at;
  for (size_t d = 0; d < rank; ++d)
    at.push_back(is_contents(*access.args[d])
                     ? data_index(*access.args[d], buffer->shape[d], extent_of(*buffer, d))
                     : index(*access.args[d]));
  return at;
}

void StageBuilder::check_within(const Syntax& access, const Buffer& buffer,
                                const std::vector<Expr>& at) const {
  for (size_t i = 0; i < at.size(); ++i) {
    const Expr extent = extent_of(*buffer, i);
    const bool contents = is_contents(*access.args[i]);
    if (contents || (prover_.nonnegative(at[i]) && prover_.nonnegative(extent - 1 - at[i]))) continue;
    const Interval range = prover_.bounds(at[i]);
    const std::string reach = range.bounded() ? fmt::format("runs from {} to {}", range.min, range.max)
                                              : std::string("cannot be shown to stay inside");
    rules().fail(
        first_place(*access.args[i]),
        fmt::format("'{}' may be read out of bounds: index {} of {} {}, the extent is {}", access.name, i + 1,
                    at.size(), reach, to_string(extent)),
        fmt::format("pad with inside({}[...], value), or correct the shape or the index", access.name));
  }
}

Operand StageBuilder::access(const Syntax& syntax) {
  const Buffer buffer = find_buffer(syntax).buffer;
  std::vector<Expr> at = indices(syntax, buffer);
  check_within(syntax, buffer, at);
  return Operand::of(load(buffer, std::move(at)));
}

Operand StageBuilder::inside(const Syntax& syntax) {
  expect_arguments(syntax, 2);
  const Syntax& read = *syntax.args[0];
  if (read.kind != SyntaxKind::Access) {
    rules().fail(read.place, "inside takes an element of a buffer first", "write inside(X[...], value)");
  }
  const Buffer buffer = find_buffer(read).buffer;
  const std::vector<Expr> at = indices(read, buffer);
  const Operand padding = evaluate(*syntax.args[1]);
  const Expr otherwise = rules().as_type(first_place(*syntax.args[1]), padding, buffer->dtype);
  Expr condition = bool_imm(true);
  for (size_t i = 0; i < at.size(); ++i) {
    if (is_contents(*read.args[i])) continue;
    const Expr extent = extent_of(*buffer, i);
    if (!prover_.nonnegative(at[i])) condition = logical_and(condition, le(0, at[i]));
    if (!prover_.nonnegative(extent - 1 - at[i])) condition = logical_and(condition, lt(at[i], extent));
  }
  return Operand::of(tunesmith::select(condition, load(buffer, at), otherwise));
}

Operand StageBuilder::select(const Syntax& syntax) {
  const Operand condition = evaluate(*syntax.args[0]);
  if (condition.kind == Operand::Kind::Boolean) return evaluate(*syntax.args[condition.integer != 0 ? 1 : 2]);
  const Prover outside = prover_;
  if (condition.is_typed() && condition.type.is_bool()) prover_.assume(condition.expr, true);
  const Operand a = evaluate(*syntax.args[1]);
  prover_ = outside;
  if (condition.is_typed() && condition.type.is_bool()) prover_.assume(condition.expr, false);
  const Operand b = evaluate(*syntax.args[2]);
  prover_ = outside;
  return rules().select(syntax.place, condition, a, b);
}

Operand StageBuilder::reduce(const Syntax& syntax) { return reduce_by(syntax, syntax.name); }

/// A reduction inside a larger expression becomes a separate stage over the axes that it uses.
Operand StageBuilder::reduce_by(const Syntax& syntax, const std::string& kind) {
  std::set<std::string> names_used;
  collect_names(syntax, names_used);
  std::vector<Axis> outer;
  std::vector<Expr> at;
  for (Axis& axis : axes_) {
    if (!names_used.contains(axis.name)) continue;
    axis.used = true;
    at.emplace_back(axis.var);
    outer.push_back({axis.name, Var(axis.var->name), axis.extent, axis.place, true});
  }
  if (outer.empty()) {
    at.emplace_back(0);
    outer.push_back({"", Var("vu"), {}, syntax.place, true});
  }
  const auto taken = [this](const std::string& name) {
    const auto& statements = state_.definition.statements;
    return state_.buffers.contains(name) || names().contains(name) ||
           std::any_of(statements.begin(), statements.end(),
                       [&](const auto& each) { return each.target == name; });
  };
  std::string stage = fmt::format("{}_{}", target_, kind);
  for (int i = 1; taken(stage); ++i) stage = fmt::format("{}_{}_{}", target_, kind, i);

  const Buffer buffer = StageBuilder(state_, stage, syntax.place, std::move(outer)).build(syntax, kind);
  state_.buffers[stage].read = true;
  return Operand::of(load(buffer, std::move(at)));
}

}  // namespace tunesmith::workload
