// The values of the language's expressions during construction, and their typing rules.
//
// Literals and parameters are untyped and take the type of the other operand. Values of different types are
// never combined without a cast. An axis has the type i64 in the language; expressions of axes and numbers
// are kept as indices, which never wrap around, until they are combined with data or stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/expr.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// The limit of index arithmetic: beyond it the simplifier could overflow.
inline constexpr double kMaxMagnitude = 0x1p53;

struct Operand {
  enum class Kind : uint8_t {
    Integer,  // untyped
    Real,     // untyped
    Boolean,  // untyped
    Type,     // a data type
    Typed     // an expression of the IR
  };

  static Operand of(int64_t value);
  static Operand of_real(double value);
  static Operand of_bool(bool value);
  static Operand of_type(DType type);
  /// `magnitude` bounds |value| of an index expression.
  static Operand of(Expr expr, double magnitude = 0.0);

  bool is_constant() const { return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Boolean; }
  bool is_typed() const { return kind == Kind::Typed; }
  /// Is it an untyped integer or an index expression?
  bool has_index_form() const { return kind == Kind::Integer || (is_typed() && expr.dtype().is_index()); }
  /// Is it a constant, or an index over parameters only, which also takes a floating type from the other
  /// operand?
  bool is_number() const;
  /// The value of an Integer or a Real.
  double number() const { return kind == Kind::Integer ? static_cast<double>(integer) : real; }
  /// "f32", "an integer", "a data type", for messages.
  std::string describe() const;

  Kind kind = Kind::Integer;
  int64_t integer = 0;  // of an Integer; 0 or 1 of a Boolean
  double real = 0.0;
  DType type;  // in the language: an index is an i64
  Expr expr;
  double magnitude = 0.0;
};

/// The typing rules. All functions throw UserError in `file` at the given place.
class TypeRules {
 public:
  explicit TypeRules(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(Place place, const std::string& message, std::string remedy = {}) const;

  /// The operand as an expression of `type`. For kIndex, the operand must have index form.
  Expr as_type(Place place, const Operand& value, DType type) const;
  /// The operand as an expression of its own type. Refuses untyped constants.
  Expr typed(Place place, const Operand& value) const;

  Operand negate(Place place, const Operand& value) const;
  Operand logical_not(Place place, const Operand& value) const;
  /// `op` is an operator of the language, "min" or "max".
  Operand binary(Place place, const std::string& op, const Operand& a, const Operand& b) const;
  Operand math(Place place, MathOp op, const std::vector<Operand>& args) const;
  Operand bit_not(Place place, const Operand& value) const;
  Operand cast(Place place, DType type, const Operand& value) const;
  Operand select(Place place, const Operand& condition, const Operand& a, const Operand& b) const;

 private:
  Operand fold(Place place, const std::string& op, const Operand& a, const Operand& b) const;
  Operand compare(Place place, const std::string& op, const Operand& a, const Operand& b) const;
  Operand logical(Place place, const std::string& op, const Operand& a, const Operand& b) const;
  /// The type that both operands have or can take.
  DType common_type(Place place, std::string_view what, const Operand& a, const Operand& b) const;
  /// kIndex if both operands have index form, else their common `type`.
  static DType common_form(DType type, const Operand& a, const Operand& b);
  Operand limited(Place place, Expr expr, double magnitude) const;

  std::string file_;
};

/// The accumulator type for sums of products of `type`: f32 for f16 and bf16, i32 for i8 and u8, else `type`.
DType accumulator_type(DType type);

}  // namespace tunesmith::workload
