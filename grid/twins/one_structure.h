// The conditions under which two programs are twins.
#pragma once

#include <vector>

#include "tunesmith/lower/lower.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Is `smaller` the program `full` with the extents of its workload substituted? The statements of both, and
/// the target's source of both, are the same but for numbers that follow from extents
/// (extent_substitution.h), all that the threads of one launch share or have is equal, and loops have as
/// many iterations as corresponding_loops.h asks. Throws LowerError where the target refuses `full`.
/// `apart` are positions of launches that need not correspond, as long as those of the smaller one are
/// independent, too (independent_launches.h).
bool have_one_structure(const LoweredProgram& full, const LoweredProgram& smaller, Target& target,
                        const std::vector<size_t>& apart = {});

}  // namespace tunesmith
