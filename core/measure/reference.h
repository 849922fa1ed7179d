// The reference program that candidates are compared with, and the error each element may have.
//
// Every floating value v is computed in f64, and beside it a magnitude m, such that an evaluation in lower
// precision, in any order, errs by about u * sqrt(K) * m: m of an input is |v|, of a sum the sum of the
// magnitudes, of a product their product, and of f(x) is |f(x)| plus |f'(x)| times the magnitude of x (the
// running error analysis of Higham, Accuracy and Stability of Numerical Algorithms, section 3.3).
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Takes the unscheduled `program` with all floats as f64; its outputs are the values of all outputs, then
/// their magnitudes (f64, for integer outputs as well).
Program reference_program(const Program& program);

/// The same computation in an order that machines like: the outer loop of each stage in parallel, and its
/// last spatial loop innermost, as far as they are legal. Every element is summed up in the order as written.
Program in_fast_order(const Program& reference);

/// Unit roundoff times the square root of the number of terms that one output element sums up, over all
/// stages.
double error_unit(const Program& program);

}  // namespace tunesmith
