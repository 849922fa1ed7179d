// The reference program for candidates, which also computes the error bound of each element.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/verification/reference_twins.h"

namespace tunesmith {

/// Takes the unscheduled `program` with all floats as f64. Its outputs are the values
/// of all outputs, then the bounds (f64) of those that has_bound() names: the maximum
/// deviation of a correct program, by any order of summation and rounding to the
/// program's types (error_bound.h). `data`: the kind of data that it will run on.
Program reference_program(const Program& program, DataKind data);

/// For each output: may correct programs differ in it?
std::vector<bool> has_bound(const Program& program, DataKind data);

/// The same computation in an efficient order: the outer loop of
/// each stage in parallel, and its last spatial loop innermost and
/// vectorized, as far as that is legal. Sums keep their order.
Program in_fast_order(const Program& reference);

/// The stage whose elements reduce the most terms: the number of terms, and of such elements.
struct LongestReduction {
  int64_t terms = 1;
  int64_t elements = 1;
};
LongestReduction longest_reduction(const Program& program);

/// Does it exponentiate differences from a maximum, as softmax does?
/// Another maximum then gives the same results until one overflows.
bool exponentiates_below_maximum(const Program& program);

}  // namespace tunesmith
