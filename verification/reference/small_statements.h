// Splits statements so that expressions of error bounds stay small.
#pragma once

#include "tunesmith/ir/program.h"
#include "tunesmith/verification/reference_twins.h"

namespace tunesmith {

/// The program, with parts of statements moved to separate statements if the expression of a bound would be
/// too large: a product's bound contains those of its factors twice, so that bounds of nested products and
/// sums grow exponentially, as in a cubic interpolation. Computes the same in f64.
Program with_small_statements(const Program& program, DataKind data);

}  // namespace tunesmith
