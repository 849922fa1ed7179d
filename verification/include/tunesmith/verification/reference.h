// The reference program that candidates are compared with, which computes how far each element may be off.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/verification/reference_twins.h"

namespace tunesmith {

/// Takes the unscheduled `program` with all floats as f64; its outputs are the values of all outputs, then
/// the bounds (f64) of those that has_bound() names: how far any order of summation, and rounding to the
/// program's types, may take a right program from the value (error_bound.h). `data` is what it will be run
/// on.
Program reference_program(const Program& program, DataKind data);

/// For each output: whether right programs may differ in it.
std::vector<bool> has_bound(const Program& program, DataKind data);

/// The same computation in an order that machines like: the outer loop of each stage in parallel, and its
/// last spatial loop innermost and on vectors, as far as they are legal. Every element is summed up in the
/// order as written.
Program in_fast_order(const Program& reference);

/// Of the stage whose elements reduce the most terms: how many, and how many such elements there are.
struct LongestReduction {
  int64_t terms = 1;
  int64_t elements = 1;
};
LongestReduction longest_reduction(const Program& program);

/// Does it take exponentials of what lies below a maximum, as softmax does? Another maximum gives the same
/// results, until one overflows.
bool exponentiates_below_maximum(const Program& program);

}  // namespace tunesmith
