// Results of programs, by the interpreter.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/interp/interpreter.h"

namespace tunesmith::conformance {

/// Random inputs and outputs of zeros, in the order of interpret().
std::vector<Tensor> arguments_of(const Program& program, uint64_t seed);

/// `arguments` after the program has run.
std::vector<Tensor> result_of(const Program& program, std::vector<Tensor> arguments,
                              const InterpretOptions& options = {});
std::vector<Tensor> result_of(const LoweredProgram& lowered, std::vector<Tensor> arguments,
                              const InterpretOptions& options = {});

/// "" when the outputs agree: integers exactly, floats up to the rounding of another order of adding.
/// `inputs` is the number of tensors in front that are not outputs.
std::string difference(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got, size_t inputs);

}  // namespace tunesmith::conformance
