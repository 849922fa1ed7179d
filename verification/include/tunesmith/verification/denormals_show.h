// Can a program that takes denormals for zero be told from one that does not?
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Does `mutant` compute something else than `right`, by more than results are rounded, where one of the
/// inputs is denormal and all others are ordinary numbers? What is added to 1 hides a denormal. Interprets
/// both.
bool denormals_show(const Program& right, const Program& mutant);

}  // namespace tunesmith
