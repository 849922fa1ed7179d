// Holds what candidates compute against the interpreted program.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/search/candidate.h>
#include <tunesmith/verification/interpreter.h>

namespace tunesmith_test {

/// Random inputs, the same each time, and outputs.
inline std::vector<tunesmith::Tensor> arguments_of(const tunesmith::Program& program) {
  std::vector<tunesmith::Tensor> arguments;
  for (const tunesmith::Buffer& input : program.inputs) {
    arguments.push_back(tunesmith::Tensor::like(*input));
    arguments.back().fill_random(arguments.size());
  }
  for (const tunesmith::Buffer& output : program.outputs)
    arguments.push_back(tunesmith::Tensor::like(*output));
  return arguments;
}

class SameResults {
 public:
  explicit SameResults(const tunesmith::Program& program)
      : inputs_(program.inputs.size()), given_(arguments_of(program)), wanted_(given_) {
    interpret(program, wanted_);
  }

  void expect_of(const tunesmith::Candidate& candidate, double tolerance = 1e-3) const {
    std::vector<tunesmith::Tensor> got = given_;
    interpret(candidate.lowered, got);
    for (size_t i = inputs_; i < got.size(); ++i) {
      EXPECT_LT(max_error(wanted_[i], got[i]), tolerance)
          << candidate.trace.str() << to_string(candidate.lowered.program);
    }
  }

 private:
  size_t inputs_;
  std::vector<tunesmith::Tensor> given_;
  std::vector<tunesmith::Tensor> wanted_;
};

}  // namespace tunesmith_test
