// What an expression of the language stands for while it is being built, and the rules of its types.
//
// Numbers written in the text, and parameters, have no type of their own: they take the type of what they
// meet. Values of different types never meet without a cast. An axis is an i64 to the language; what axes and
// numbers make is kept as an index, which never wraps around, until it meets data or is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/expr.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// Index arithmetic beyond it is a mistake, and could overflow in the simplifier.
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
  /// `magnitude` bounds |value| of an index, which is an i64.
  static Operand of(Expr expr, double magnitude = 0.0);

  bool is_constant() const { return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Boolean; }
  bool is_typed() const { return kind == Kind::Typed; }
  /// An integer number, or made of axes and numbers only.
  bool has_index_form() const { return kind == Kind::Integer || (is_typed() && expr.dtype().is_index()); }
  /// Written, or made of parameters: what varies takes the type of floating values that it meets, too.
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

/// The rules; throws UserError in `file` at the place given.
class TypeRules {
 public:
  explicit TypeRules(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(Place place, const std::string& message, std::string remedy = {}) const;

  /// The operand as an expression of `type`; of kIndex only what has_index_form().
  Expr as_type(Place place, const Operand& value, DType type) const;
  /// Data of whatever type it has; untyped constants are refused.
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
  /// The type both have, or would take.
  DType common_type(Place place, std::string_view what, const Operand& a, const Operand& b) const;
  /// `type`, which a and b have in common, or kIndex when their values are that.
  static DType common_form(DType type, const Operand& a, const Operand& b);
  Operand limited(Place place, Expr expr, double magnitude) const;

  std::string file_;
};

/// The type in which sums of products of `type` are kept: f32 for f16 and bf16, i32 for i8 and u8, else
/// itself.
DType accumulator_type(DType type);

}  // namespace tunesmith::workload
