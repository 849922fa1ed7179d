#include "twins/corresponding_programs.h"

#include <algorithm>
#include <map>

#include "tunesmith/grid/tile_order.h"
#include "tunesmith/ir/lowered_stmt.h"

namespace tunesmith {
namespace {

/// The purpose of a number in an index.
enum class Role : uint8_t {
  Coefficient,
  Divisor,
  Term  // an offset or a bound
};

class Correspondence {
 public:
  explicit Correspondence(const ExtentSubstitution& extents) : extents_(extents) {}

  bool of(std::span<const Buffer> full, std::span<const Buffer> smaller) {
    return std::ranges::equal(full, smaller, [&](const Buffer& a, const Buffer& b) { return of(a, b); });
  }
  bool of(const Stmt& full, const Stmt& smaller);

 private:
  /// Buffers and variables are matched at their first appearance.
  bool of(const Buffer& full, const Buffer& smaller);
  bool of(const Expr& full, const Expr& smaller, Role role = Role::Term);
  bool of(std::span<const Expr> full, std::span<const Expr> smaller) {
    return std::ranges::equal(full, smaller, [&](const Expr& a, const Expr& b) { return of(a, b); });
  }
  bool of(const Annotations& full, const Annotations& smaller) const;
  bool of_loops(const Loop& full, const Loop& smaller);
  bool of_numbers(const IntImm& full, const IntImm& smaller, Role role) const;
  bool of_optional(const Expr& full, const Expr& smaller) {
    return full && smaller ? of(full, smaller) : !full && !smaller;
  }
  bool of_optional(const Stmt* full, const Stmt* smaller) {
    return full != nullptr && smaller != nullptr ? of(*full, *smaller) : full == smaller;
  }

  const ExtentSubstitution& extents_;
  std::map<const BufferNode*, const BufferNode*> buffers_;
  std::map<const VarNode*, const VarNode*> variables_;
};

bool Correspondence::of(const Buffer& full, const Buffer& smaller) {
  const auto [known, first] = buffers_.emplace(full.get(), smaller.get());
  if (!first) return known->second == smaller.get();
  return full->name == smaller->name && full->dtype == smaller->dtype && full->scope == smaller->scope &&
         full->constant == smaller->constant && full->shape.size() == smaller->shape.size() &&
         full->swizzle == smaller->swizzle;
}

bool Correspondence::of_numbers(const IntImm& full, const IntImm& smaller, Role role) const {
  if (full.dtype != kIndex)
    return extents_.is_extent(static_cast<double>(full.value), static_cast<double>(smaller.value));
  switch (role) {
    case Role::Coefficient:
      return extents_.scales(full.value, smaller.value);
    case Role::Divisor:
      return extents_.counts(full.value, smaller.value);
    case Role::Term:
      return extents_.shifts(full.value, smaller.value);
  }
  return false;
}

bool Correspondence::of(const Expr& full, const Expr& smaller, Role role) {
  if (full.kind() != smaller.kind() || full.dtype() != smaller.dtype() ||
      full.args().size() != smaller.args().size())
    return false;
  switch (full.kind()) {
    case ExprKind::IntImm:
      return of_numbers(*full.as<IntImm>(), *smaller.as<IntImm>(), role);
    case ExprKind::FloatImm:
      return extents_.is_extent(full.as<FloatImm>()->value, smaller.as<FloatImm>()->value);
    case ExprKind::Var:
      return variables_.emplace(full.as<VarNode>(), smaller.as<VarNode>()).first->second ==
             smaller.as<VarNode>();
    case ExprKind::Mul:
      return of(full.arg(0), smaller.arg(0), Role::Coefficient) &&
             of(full.arg(1), smaller.arg(1), Role::Coefficient);
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
      return of(full.arg(0), smaller.arg(0)) && of(full.arg(1), smaller.arg(1), Role::Divisor);
    case ExprKind::Ramp:
      return of(full.arg(0), smaller.arg(0)) && of(full.arg(1), smaller.arg(1), Role::Coefficient);
    case ExprKind::Call:
      return full.as<CallNode>()->op == smaller.as<CallNode>()->op && of(full.args(), smaller.args());
    case ExprKind::Load:
      return of(full.as<LoadNode>()->buffer, smaller.as<LoadNode>()->buffer) &&
             of(full.args(), smaller.args());
    default:
      return of(full.args(), smaller.args());
  }
}

bool Correspondence::of(const Annotations& full, const Annotations& smaller) const {
  return std::ranges::equal(full, smaller, [&](const auto& a, const auto& b) {
    if (a.first == kTileColumns && b.first == kTileColumns)
      return extents_.counts(std::get<int64_t>(a.second), std::get<int64_t>(b.second));
    return a == b;
  });
}

bool Correspondence::of_loops(const Loop& full, const Loop& smaller) {
  if (full.loop_kind != smaller.loop_kind || full.thread != smaller.thread ||
      !of(full.annotations, smaller.annotations))
    return false;
  // Constant extents are the substituted numbers.
  const bool constant = full.extent.is(ExprKind::IntImm) && smaller.extent.is(ExprKind::IntImm);
  return of(Expr(full.var), Expr(smaller.var)) && of(full.min, smaller.min) &&
         (constant || of(full.extent, smaller.extent)) && of(*full.body(), *smaller.body());
}

bool Correspondence::of(const Stmt& full, const Stmt& smaller) {
  if (full.kind != smaller.kind) return false;
  switch (full.kind) {
    case StmtKind::Seq:
      return std::ranges::equal(full.as<Seq>()->children(), smaller.as<Seq>()->children(),
                                [&](const StmtPtr& a, const StmtPtr& b) { return of(*a, *b); });
    case StmtKind::Loop:
      return of_loops(*full.as<Loop>(), *smaller.as<Loop>());
    case StmtKind::Store: {
      const Store& a = *full.as<Store>();
      const Store& b = *smaller.as<Store>();
      return of(a.buffer, b.buffer) && of(a.indices, b.indices) && of(a.value, b.value) &&
             of_optional(a.mask, b.mask);
    }
    case StmtKind::If: {
      const If& a = *full.as<If>();
      const If& b = *smaller.as<If>();
      return of(a.condition, b.condition) && of(*a.then_case(), *b.then_case()) &&
             of_optional(a.else_case(), b.else_case());
    }
    case StmtKind::Allocate: {
      const Allocate& a = *full.as<Allocate>();
      const Allocate& b = *smaller.as<Allocate>();
      return a.offset.has_value() == b.offset.has_value() && of(a.buffer, b.buffer) &&
             of(*a.body(), *b.body());
    }
    case StmtKind::Barrier:
      return full.as<Barrier>()->level == smaller.as<Barrier>()->level;
    case StmtKind::AsyncGroup:
      return of(*full.as<AsyncGroup>()->body(), *smaller.as<AsyncGroup>()->body());
    case StmtKind::AsyncWait:
      return full.as<AsyncWait>()->pending == smaller.as<AsyncWait>()->pending;
    case StmtKind::Handover: {
      const Handover& a = *full.as<Handover>();
      const Handover& b = *smaller.as<Handover>();
      return a.axis == b.axis && a.versions == b.versions && of(*a.produce(), *b.produce()) &&
             of(*a.consume(), *b.consume());
    }
    case StmtKind::Block:  // not in a lowered program
      return false;
  }
  return false;
}

}  // namespace

bool programs_correspond(const Program& full, const Program& smaller, const ExtentSubstitution& extents) {
  Correspondence correspondence(extents);
  return full.annotations == smaller.annotations && full.inputs.size() == smaller.inputs.size() &&
         correspondence.of(full.buffers(), smaller.buffers()) &&
         correspondence.of(full.root(), smaller.root());
}

}  // namespace tunesmith
