// Integers at the ends of their types' ranges, all elements of an input at the same end: where sums of
// products are largest, which random elements hardly ever are together.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith::conformance {

/// How many there are: each input at either end; 0 of a program that does not compute with integers alone, or
/// that has more than six inputs.
size_t corners_of(const Program& program);
/// The inputs, then outputs of zeros: arguments of interpret().
std::vector<Tensor> corner_of(const Program& program, size_t corner);
/// "A of 255, B of -128"
std::string corner_text(const Program& program, size_t corner);

}  // namespace tunesmith::conformance
