// The conditions under which two programs are twins.
#pragma once

#include <vector>

#include "tunesmith/lower/lower.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Is `smaller` the program `full` with the extents of its workload substituted? Statements and the target's
/// sources must be equal except for numbers that follow from extents (extent_substitution.h), all memory that
/// the threads of a launch share or own must be equal, and loops must have at least the iterations that
/// corresponding_loops.h requires. `apart`: positions of launches that need not correspond, if those of the
/// smaller program are independent, too (independent_launches.h). Throws LowerError if the target refuses
/// `full`.
bool have_one_structure(const LoweredProgram& full, const LoweredProgram& smaller, Target& target,
                        const std::vector<size_t>& apart = {});

}  // namespace tunesmith
