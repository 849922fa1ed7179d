// Arguments for a program.
#pragma once

#include <vector>

#include <tunesmith/ir/program.h>
#include <tunesmith/verification/tensor.h>

namespace tunesmith::test {

/// Random inputs (seeds 1, 2, ...), and outputs of zeros.
inline std::vector<Tensor> random_arguments(const Program& program) {
  std::vector<Tensor> arguments;
  for (const Buffer& input : program.inputs) {
    arguments.push_back(Tensor::like(*input));
    arguments.back().fill_random(arguments.size());
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  return arguments;
}

}  // namespace tunesmith::test
