// Integers at the ends of their types' ranges, with all elements of an input at the same
// end: there sums of products are largest, which random elements hardly ever reach.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith::conformance {

/// The number of corners: each input at either end; 0 for a program
/// that computes with other types or has more than six inputs.
size_t corners_of(const Program& program);
/// The inputs, followed by outputs of zeros: arguments of interpret().
std::vector<Tensor> corner_of(const Program& program, size_t corner);
/// "A of 255, B of -128"
std::string corner_text(const Program& program, size_t corner);

}  // namespace tunesmith::conformance
