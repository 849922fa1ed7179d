// Interprets programs and verifies the results like those of candidates.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith::conformance {

/// The correct results of a program, on the data and within the bounds used for candidates.
class Numeric {
 public:
  /// Throws UserError if no error in the program's results could be distinguished from rounding.
  explicit Numeric(const Program& program, uint64_t seed = 1);
  ~Numeric();
  Numeric(const Numeric&) = delete;
  Numeric& operator=(const Numeric&) = delete;

  /// The number of data sets.
  size_t sets() const;
  /// The inputs of a set, followed by outputs of zeros: arguments of interpret().
  std::vector<Tensor> arguments(size_t set) const;
  /// "" if the outputs in `arguments` are correct; else where and by how much they differ.
  std::string difference(size_t set, const std::vector<Tensor>& arguments) const;
  /// Interprets a lowered program on every set and returns the first difference.
  std::string difference(const LoweredProgram& lowered) const;

 private:
  struct Set;
  std::vector<Set> sets_;
  size_t inputs_ = 0;
};

}  // namespace tunesmith::conformance
