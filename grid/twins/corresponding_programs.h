// Compares programs up to substituted extents.
#pragma once

#include "tunesmith/ir/program.h"
#include "twins/extent_substitution.h"

namespace tunesmith {

/// Do the lowered programs have the same statements, expressions, buffers and
/// annotations, and does `extents` map each number of `full` to the corresponding
/// one in `smaller`? Does not limit how far loops and buffers shrink.
bool programs_correspond(const Program& full, const Program& smaller, const ExtentSubstitution& extents);

}  // namespace tunesmith
