// Expressions as CUDA C++, with the semantics of programs: integers wrap, 16-bit
// floats round after each operation, a conversion to an integer saturates.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::cuda {

/// The type in memory: "float", "half_t", ...
std::string storage_type(DType type);
/// The type for arithmetic: f32 for 16-bit floats.
std::string value_type(DType type);

/// Unique names, valid in C++, for variables and buffers of a kernel.
class Names {
 public:
  Names();
  /// A new name similar to `wanted`.
  std::string fresh(const std::string& wanted);
  void set(const void* node, std::string name) { names_[node] = std::move(name); }
  const std::string& of(const void* node) const;

 private:
  std::set<std::string> used_;
  std::map<const void*, std::string> names_;
};

/// Definitions of these helpers, to be placed before the kernels that call them.
std::string helper_texts(const std::set<std::string>& helpers);

class ExprText {
 public:
  explicit ExprText(const Names& names) : names_(names) {}

  /// Operators bind at least as strongly as `outer` (0: any). `ranges`
  /// tells which indices are nonnegative. Throws LowerError for vectors.
  std::string text(const Expr& expr, const Analyzer& ranges, int outer = 0);
  /// The element of the buffer at the index, with its swizzle.
  std::string element(const Buffer& buffer, const Expr& index, const Analyzer& ranges);
  const std::string& name_of(const Buffer& buffer) const { return names_.of(buffer.get()); }
  /// The index of that element after the swizzle.
  std::string place(const Swizzle& swizzle, const std::string& index);
  /// A value as stored: rounded to 16 bits for a buffer of a 16-bit type.
  std::string stored(DType type, const std::string& value) const;
  /// Converts a stored value for arithmetic.
  std::string value_of(DType type, const std::string& stored) const;

  /// `condition` holds from now on: loads guarded by it
  /// need no further test. release() undoes the last call.
  void hold(const Expr& condition) { held_.push_back(condition); }
  void release() { held_.pop_back(); }
  bool holds(const Expr& condition) const;

  /// From now on an equal index remainder is replaced by that variable.
  void name(Expr remainder, std::string variable) {
    named_.emplace(named_.begin(), std::move(remainder), std::move(variable));
  }

  /// Precedence of the operator whose operand the text will be.
  static constexpr int kOperand = 6;

  /// Helpers called by the texts so far, for helper_texts().
  const std::set<std::string>& helpers() const { return helpers_; }

 private:
  std::string number(const Expr& expr) const;
  std::string selected(const Expr& expr, const Analyzer& ranges, int outer);
  std::string sum(const Expr& expr, const Analyzer& ranges, int outer);
  std::string quotient(const Expr& expr, const Analyzer& ranges, int outer);
  std::string converted(const Expr& expr, const Analyzer& ranges);
  std::string function(const Expr& expr, const Analyzer& ranges);
  std::string bits(const Expr& expr, const Analyzer& ranges);
  std::string loaded(const Expr& expr, const Analyzer& ranges, int outer);
  std::string rounded(DType type, std::string value) const;
  std::string call(const std::string& helper, const std::string& arguments);

  const Names& names_;
  std::set<std::string> helpers_;
  std::vector<Expr> held_;
  std::vector<std::pair<Expr, std::string>> named_;
};

}  // namespace tunesmith::cuda
