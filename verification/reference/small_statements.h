// Programs whose bounds are small enough to be computed.
#pragma once

#include "tunesmith/ir/program.h"
#include "tunesmith/verification/reference_twins.h"

namespace tunesmith {

/// The program, with parts of statements as statements of their own where the bound of one would be too
/// large: a product's bound has those of its factors twice, so that bounds of nested products and sums grow
/// exponentially, as in a cubic interpolation. Computes the same in f64.
Program with_small_statements(const Program& program, DataKind data);

}  // namespace tunesmith
