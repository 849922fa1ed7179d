// Results of programs, by the interpreter, verified as those of candidates are.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith::conformance {

/// What right results of a program are, on the data and within the bounds that a candidate is verified with.
class Numeric {
 public:
  /// Throws UserError when nothing that the program computes can be told from rounding.
  explicit Numeric(const Program& program, uint64_t seed = 1);
  ~Numeric();
  Numeric(const Numeric&) = delete;
  Numeric& operator=(const Numeric&) = delete;

  /// How many data sets there are.
  size_t sets() const;
  /// The inputs of a set, then outputs of zeros: arguments of interpret().
  std::vector<Tensor> arguments(size_t set) const;
  /// "" when the outputs in `arguments` are right; else where and how far they are off.
  std::string difference(size_t set, const std::vector<Tensor>& arguments) const;
  /// The same of what a lowered program makes of the arguments of every set, interpreted.
  std::string difference(const LoweredProgram& lowered) const;

 private:
  struct Set;
  std::vector<Set> sets_;
  size_t inputs_ = 0;
};

}  // namespace tunesmith::conformance
