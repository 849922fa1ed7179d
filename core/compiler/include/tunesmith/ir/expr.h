// Expressions: immutable, shared and reference-counted. Copies cost a pointer; any thread may read.
//
// Index arithmetic has type kIndex, which never overflows, and uses FloorDiv / FloorMod (rounding towards
// minus infinity) with positive constant divisors. Arithmetic on integer data wraps around in its type; casts
// convert between the two. The factory functions fold constants and neutral elements, so `x * 1 + 0` is never
// built; affine/simplify.h simplifies further.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "tunesmith/ir/buffer.h"
#include "tunesmith/ir/dtype.h"

#pragma GCC visibility push(default)
namespace tunesmith {

enum class ExprKind : uint8_t {
  IntImm,    // integer or bool constant
  FloatImm,  // floating constant
  Var,       // a loop variable or a block's iteration variable; identity is the object
  Add,
  Sub,
  Mul,
  Div,  // floating division, or integer division that truncates; never in an index
  FloorDiv,
  FloorMod,
  Min,  // a < b ? a : b, so the second operand if one is NaN
  Max,  // a > b ? a : b
  Eq,
  Ne,
  Lt,
  Le,
  And,
  Or,
  Not,
  Select,  // (condition, then, else); evaluates only the chosen side, so it may guard a load
  Cast,
  Call,      // an elementwise function (MathOp)
  Load,      // buffer[indices], optionally masked
  Ramp,      // (base, stride) x lanes, of indices: base + stride * lane
  Broadcast  // a scalar in every lane
};

/// Elementwise functions of a Call. Hashes contain their numbers, so a new one is the last.
enum class MathOp : uint8_t {
  Exp,
  Log,
  Tanh,
  Erf,
  Sqrt,
  Rsqrt,
  Pow,
  Abs,
  Sigmoid,
  Floor,
  Ceil,
  RoundTf32,
  Sin,
  Cos,
  BitAnd,  // the first of those of two integers
  BitOr,
  BitXor,
  ShiftLeft,   // by a negative number, or by at least the width: 0
  ShiftRight,  // arithmetic for signed types; by at least the width: 0, or -1 if negative
  RoundEven    // to the nearest integer, of two the even one
};

/// "exp", "rsqrt", ...
std::string_view math_op_name(MathOp op);
size_t math_op_arity(MathOp op);
inline bool is_bit_op(MathOp op) { return op >= MathOp::BitAnd && op <= MathOp::ShiftRight; }

class Expr;

class ExprNode : public boost::intrusive_ref_counter<ExprNode> {
 public:
  ExprNode(ExprKind node_kind, DType node_type);
  virtual ~ExprNode();
  ExprNode(const ExprNode&) = delete;
  ExprNode& operator=(const ExprNode&) = delete;

  const ExprKind kind;
  const DType dtype;
  /// Operands in the order given at ExprKind; of a Load, the indices and then the mask, if any.
  std::span<const Expr> args() const;

 protected:
  /// For nodes with operands: `args` must live as long as the node.
  void set_args(std::span<const Expr> args);

 private:
  const Expr* first_arg_ = nullptr;
  size_t arg_count_ = 0;
};

/// A handle of an immutable expression; null if default-constructed.
class Expr {
 public:
  Expr() = default;
  /// Makes an index constant.
  Expr(int value);      // NOLINT(google-explicit-constructor): `i + 1` must read as written
  Expr(int64_t value);  // NOLINT(google-explicit-constructor)
  explicit Expr(boost::intrusive_ptr<const ExprNode> node) : node_(std::move(node)) {}

  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode* get() const { return node_.get(); }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }

  ExprKind kind() const { return node_->kind; }
  DType dtype() const { return node_->dtype; }
  std::span<const Expr> args() const { return node_->args(); }
  const Expr& arg(size_t i) const { return node_->args()[i]; }
  bool is(ExprKind k) const { return node_ && node_->kind == k; }
  /// Is it the same object? equal() compares structure.
  bool same_as(const Expr& other) const { return node_ == other.node_; }

  /// The node as T if it is one, else null.
  template <typename T>
  const T* as() const {
    return node_ && T::is_kind(node_->kind) ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  boost::intrusive_ptr<const ExprNode> node_;
};

inline ExprNode::ExprNode(ExprKind node_kind, DType node_type) : kind(node_kind), dtype(node_type) {}
inline std::span<const Expr> ExprNode::args() const { return {first_arg_, arg_count_}; }
inline void ExprNode::set_args(std::span<const Expr> args) {
  first_arg_ = args.data();
  arg_count_ = args.size();
}

class IntImm final : public ExprNode {
 public:
  IntImm(int64_t v, DType type) : ExprNode(ExprKind::IntImm, type), value(v) {}
  static bool is_kind(ExprKind k) { return k == ExprKind::IntImm; }
  const int64_t value;
};

class FloatImm final : public ExprNode {
 public:
  FloatImm(double v, DType type) : ExprNode(ExprKind::FloatImm, type), value(v) {}
  static bool is_kind(ExprKind k) { return k == ExprKind::FloatImm; }
  const double value;
};

class VarNode final : public ExprNode {
 public:
  VarNode(std::string var_name, DType type, int64_t lowest_value = 0, int64_t highest_value = -1);
  static bool is_kind(ExprKind k) { return k == ExprKind::Var; }
  const std::string name;
  /// Increases with each creation, across all threads. Orders variables independently of addresses.
  const uint64_t serial;
  /// The range of a parameter (an index that no loop binds); for other variables lowest > highest.
  const int64_t lowest, highest;
  bool is_parameter() const { return lowest <= highest; }
};

class CallNode final : public ExprNode {
 public:
  CallNode(MathOp math_op, DType type, std::vector<Expr> operands);
  static bool is_kind(ExprKind k) { return k == ExprKind::Call; }
  const MathOp op;

 private:
  const std::vector<Expr> operands_;
};

class LoadNode final : public ExprNode {
 public:
  LoadNode(Buffer from, DType type, std::vector<Expr> indices, const Expr& mask);
  static bool is_kind(ExprKind k) { return k == ExprKind::Load; }
  const Buffer buffer;
  const size_t rank;
  std::span<const Expr> indices() const { return args().first(rank); }
  /// Null, or a bool expression: if it is false, no memory is accessed and the value is zero.
  Expr mask() const { return args().size() > rank ? args()[rank] : Expr(); }

 private:
  std::vector<Expr> operands_;
};

/// Binary, unary, Select, Cast, Ramp and Broadcast nodes: kind, type and operands only.
class OpNode final : public ExprNode {
 public:
  /// Takes one to three operands; the others are null.
  OpNode(ExprKind op_kind, DType type, Expr a, Expr b = {}, Expr c = {});

 private:
  // Stored in the node: most nodes are of this class, and need one allocation.
  const std::array<Expr, 3> operands_;
};

/// A variable: an Expr known to be a VarNode. Ordered by serial.
class Var {
 public:
  Var() = default;
  explicit Var(std::string name, DType type = kIndex);
  /// A parameter of a program: constant during a call, in [lowest, highest].
  static Var parameter(std::string name, int64_t lowest, int64_t highest);
  /// From an expression that is a VarNode; throws InternalError otherwise.
  static Var from(const Expr& expr);

  operator Expr() const {
    return Expr(boost::intrusive_ptr<const ExprNode>(node_));
  }  // NOLINT: a Var is an Expr
  explicit operator bool() const { return node_ != nullptr; }
  const VarNode* get() const { return node_.get(); }
  const VarNode* operator->() const { return node_.get(); }
  bool operator==(const Var& other) const { return node_ == other.node_; }
  bool operator<(const Var& other) const;

 private:
  boost::intrusive_ptr<const VarNode> node_;
};

// ---- Building. Operands of unequal lanes are broadcast; types otherwise must agree (InternalError). ----

Expr int_imm(int64_t value, DType type = kIndex);
Expr float_imm(double value, DType type);
/// A constant of any type. Here and above, a constant with lanes is a Broadcast of a scalar constant.
Expr constant(double value, DType type);
Expr bool_imm(bool value);

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr div(const Expr& a, const Expr& b);
Expr floordiv(const Expr& a, const Expr& b);
Expr floormod(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr eq(const Expr& a, const Expr& b);
Expr ne(const Expr& a, const Expr& b);
Expr lt(const Expr& a, const Expr& b);
Expr le(const Expr& a, const Expr& b);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);
Expr select(const Expr& condition, const Expr& then_value, const Expr& else_value);
Expr cast(DType type, const Expr& a);
Expr call(MathOp op, std::vector<Expr> args);
/// One index (of type kIndex) for each dimension, or one offset
/// after lowering. The value has as many lanes as the widest index.
Expr load(const Buffer& buffer, std::vector<Expr> indices, const Expr& mask = {});
/// `base` and `stride` are scalar indices.
Expr ramp(const Expr& base, const Expr& stride, int lanes);
Expr broadcast(const Expr& a, int lanes);
/// The binary expression of `kind` (Add .. Or) through the factory above.
Expr binary(ExprKind kind, const Expr& a, const Expr& b);

// ---- Queries ----

/// Stores the value of an integer or bool constant in `value`; returns false for other expressions.
bool as_const_int(const Expr& expr, int64_t* value);
bool is_const_int(const Expr& expr, int64_t value);
/// Compares structure, and variables and buffers by identity.
bool equal(const Expr& a, const Expr& b);
bool uses_var(const Expr& expr, const Var& var);
bool uses_any(const Expr& expr, std::span<const Var> vars);
/// Distinct variables in order of first appearance.
std::vector<Var> vars_of(const Expr& expr);

// ---- Rewriting (walks and rewriters: ir/visit.h) ----

/// `expr` with other operands, rebuilt through the factories (so constants fold).
Expr with_args(const Expr& expr, std::vector<Expr> args);

/// A small map from variables to expressions, in insertion order.
class Substitution {
 public:
  Substitution() = default;
  Substitution(std::initializer_list<std::pair<Var, Expr>> pairs);
  void set(const Var& var, Expr value);
  /// Null if absent.
  const Expr* find(const VarNode* var) const;
  bool empty() const { return pairs_.empty(); }
  std::span<const std::pair<Var, Expr>> pairs() const { return pairs_; }

 private:
  std::vector<std::pair<Var, Expr>> pairs_;
};

Expr substitute(const Expr& expr, const Substitution& map);
std::vector<Expr> substitute(std::span<const Expr> exprs, const Substitution& map);

}  // namespace tunesmith
#pragma GCC visibility pop
