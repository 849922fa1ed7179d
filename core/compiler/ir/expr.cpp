#include "tunesmith/ir/expr.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

uint64_t next_serial() {
  // One counter for all threads: with one per thread, the order of variables from different threads would
  // depend on how much work each thread had done.
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::string_view math_op_name(MathOp op) {
  switch (op) {
    case MathOp::Exp:
      return "exp";
    case MathOp::Log:
      return "log";
    case MathOp::Tanh:
      return "tanh";
    case MathOp::Erf:
      return "erf";
    case MathOp::Sqrt:
      return "sqrt";
    case MathOp::Rsqrt:
      return "rsqrt";
    case MathOp::Pow:
      return "pow";
    case MathOp::Abs:
      return "abs";
    case MathOp::Sigmoid:
      return "sigmoid";
    case MathOp::Floor:
      return "floor";
    case MathOp::Ceil:
      return "ceil";
    case MathOp::RoundTf32:
      return "round_tf32";
    case MathOp::Sin:
      return "sin";
    case MathOp::Cos:
      return "cos";
    case MathOp::BitAnd:
      return "bit_and";
    case MathOp::BitOr:
      return "bit_or";
    case MathOp::BitXor:
      return "bit_xor";
    case MathOp::ShiftLeft:
      return "shift_left";
    case MathOp::ShiftRight:
      return "shift_right";
    case MathOp::RoundEven:
      return "round_even";
  }
  return "?";
}

size_t math_op_arity(MathOp op) { return op == MathOp::Pow || is_bit_op(op) ? 2 : 1; }

ExprNode::~ExprNode() = default;

Expr::Expr(int value) : Expr(static_cast<int64_t>(value)) {}
Expr::Expr(int64_t value) : node_(new IntImm(value, kIndex)) {}

VarNode::VarNode(std::string var_name, DType type, int64_t lowest_value, int64_t highest_value)
    : ExprNode(ExprKind::Var, type),
      name(std::move(var_name)),
      serial(next_serial()),
      lowest(lowest_value),
      highest(highest_value) {}

CallNode::CallNode(MathOp math_op, DType type, std::vector<Expr> operands)
    : ExprNode(ExprKind::Call, type), op(math_op), operands_(std::move(operands)) {
  set_args(operands_);
}

LoadNode::LoadNode(Buffer from, DType type, std::vector<Expr> indices, const Expr& mask)
    : ExprNode(ExprKind::Load, type),
      buffer(std::move(from)),
      rank(indices.size()),
      operands_(std::move(indices)) {
  if (mask) operands_.push_back(mask);
  set_args(operands_);
}

OpNode::OpNode(ExprKind op_kind, DType type, Expr a, Expr b, Expr c)
    : ExprNode(op_kind, type), operands_{std::move(a), std::move(b), std::move(c)} {
  const size_t count = operands_[2] ? 3 : operands_[1] ? 2 : 1;
  set_args(std::span(operands_).first(count));
}

Var::Var(std::string name, DType type) : node_(new VarNode(std::move(name), type)) {}
Var Var::parameter(std::string name, int64_t lowest, int64_t highest) {
  check_invariant(lowest <= highest, "the range of a parameter has a value");
  Var made;
  made.node_.reset(new VarNode(std::move(name), kIndex, lowest, highest));
  return made;
}

Var Var::from(const Expr& expr) {
  const auto* node = expr.as<VarNode>();
  check_invariant(node != nullptr, "the expression is a variable");
  Var var;
  var.node_ = node;
  return var;
}

bool Var::operator<(const Var& other) const { return node_->serial < other.node_->serial; }

bool as_const_int(const Expr& expr, int64_t* value) {
  const auto* imm = expr.as<IntImm>();
  if (!imm) return false;
  *value = imm->value;
  return true;
}

bool is_const_int(const Expr& expr, int64_t value) {
  const auto* imm = expr.as<IntImm>();
  return imm && imm->value == value;
}

bool equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (!a || !b || a.kind() != b.kind() || a.dtype() != b.dtype()) return false;
  switch (a.kind()) {
    case ExprKind::Var:
      return false;
    case ExprKind::IntImm:
      return a.as<IntImm>()->value == b.as<IntImm>()->value;
    case ExprKind::FloatImm:
      return std::bit_cast<uint64_t>(a.as<FloatImm>()->value) ==
             std::bit_cast<uint64_t>(b.as<FloatImm>()->value);
    case ExprKind::Call:
      if (a.as<CallNode>()->op != b.as<CallNode>()->op) return false;
      break;
    case ExprKind::Load:
      if (a.as<LoadNode>()->buffer != b.as<LoadNode>()->buffer) return false;
      break;
    default:
      break;
  }
  const auto args_a = a.args();
  const auto args_b = b.args();
  if (args_a.size() != args_b.size()) return false;
  for (size_t i = 0; i < args_a.size(); ++i) {
    if (!equal(args_a[i], args_b[i])) return false;
  }
  return true;
}

bool uses_var(const Expr& expr, const Var& var) {
  return any_of_expr(expr, [&](const Expr& e) { return e.get() == var.get(); });
}

bool uses_any(const Expr& expr, std::span<const Var> vars) {
  return any_of_expr(expr, [&](const Expr& e) {
    return std::any_of(vars.begin(), vars.end(), [&](const Var& var) { return e.get() == var.get(); });
  });
}

std::vector<Var> vars_of(const Expr& expr) {
  std::vector<Var> found;
  walk_expr(expr, [&](const Expr& e) {
    if (!e.is(ExprKind::Var)) return;
    for (const Var& known : found) {
      if (known.get() == e.get()) return;
    }
    found.push_back(Var::from(e));
  });
  return found;
}

Substitution::Substitution(std::initializer_list<std::pair<Var, Expr>> pairs) {
  for (const auto& [var, value] : pairs) set(var, value);
}

void Substitution::set(const Var& var, Expr value) {
  for (auto& pair : pairs_) {
    if (pair.first == var) {
      pair.second = std::move(value);
      return;
    }
  }
  pairs_.emplace_back(var, std::move(value));
}

const Expr* Substitution::find(const VarNode* var) const {
  for (const auto& pair : pairs_) {
    if (pair.first.get() == var) return &pair.second;
  }
  return nullptr;
}

Expr substitute(const Expr& expr, const Substitution& map) {
  if (map.empty()) return expr;
  return rewrite_expr(expr, [&](const Expr& e) {
    const auto* var = e.as<VarNode>();
    const Expr* value = var ? map.find(var) : nullptr;
    return value ? *value : e;
  });
}

std::vector<Expr> substitute(std::span<const Expr> exprs, const Substitution& map) {
  std::vector<Expr> results;
  results.reserve(exprs.size());
  for (const Expr& expr : exprs) results.push_back(substitute(expr, map));
  return results;
}

}  // namespace tunesmith
