// Expressions as CUDA C++. Arithmetic means what it means in a program: integers wrap, 16-bit floats round
// after each operation, a conversion to an integer saturates.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::cuda {

/// "float", "half_t", ... : how a value of the type lies in memory.
std::string storage_type(DType type);
/// How one is computed with: f32 for 16-bit floats.
std::string value_type(DType type);

/// Names of variables and buffers in one kernel: valid in C++, each once.
class Names {
 public:
  Names();
  /// A new name like `wanted`.
  std::string fresh(const std::string& wanted);
  void set(const void* node, std::string name) { names_[node] = std::move(name); }
  const std::string& of(const void* node) const;

 private:
  std::set<std::string> used_;
  std::map<const void*, std::string> names_;
};

/// Definitions of these helpers, to stand before kernels that call them.
std::string helper_texts(const std::set<std::string>& helpers);

class ExprText {
 public:
  explicit ExprText(const Names& names) : names_(names) {}

  /// Operators bind at least as strongly as `outer` (0: anything goes). `ranges` tells which indices are
  /// never negative. Throws LowerError for vectors.
  std::string text(const Expr& expr, const Analyzer& ranges, int outer = 0);
  /// The element of the buffer at the index, or where its swizzle moves it.
  std::string element(const Buffer& buffer, const Expr& index, const Analyzer& ranges);
  const std::string& name_of(const Buffer& buffer) const { return names_.of(buffer.get()); }
  /// Where the swizzle moves the element of that index.
  std::string place(const Swizzle& swizzle, const std::string& index);
  /// A value as it is stored: rounded to 16 bits where the buffer's type has so many.
  std::string stored(DType type, const std::string& value) const;
  /// What is stored as a value.
  std::string value_of(DType type, const std::string& stored) const;

  /// From now on `condition` holds: what is loaded only where it does needs to ask no more. Until release(),
  /// which undoes the last one.
  void hold(const Expr& condition) { held_.push_back(condition); }
  void release() { held_.pop_back(); }
  bool holds(const Expr& condition) const;

  /// From now on a remainder of indices that is equal to this one is that variable, whatever it was before.
  void name(Expr remainder, std::string variable) {
    named_.emplace(named_.begin(), std::move(remainder), std::move(variable));
  }

  /// That the text is to be an operand of.
  static constexpr int kOperand = 6;

  /// What the texts so far call, for helper_texts().
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
