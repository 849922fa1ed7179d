// Detects whether flushing denormals to zero changes a program's results.
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Does `mutant` differ from `right` by more than rounding if one
/// of the inputs is denormal and all others are ordinary numbers?
/// (An addition of 1 hides a denormal.) Interprets both.
bool denormals_show(const Program& right, const Program& mutant);

}  // namespace tunesmith
