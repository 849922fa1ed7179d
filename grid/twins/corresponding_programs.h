// Whether one program is another with its extents substituted.
#pragma once

#include "tunesmith/ir/program.h"
#include "twins/extent_substitution.h"

namespace tunesmith {

/// Have the lowered programs the same statements, expressions, buffers and annotations, and is each number of
/// `smaller` what `extents` make of the one in its place in `full`? How far loops and buffers may shrink is
/// not asked here.
bool programs_correspond(const Program& full, const Program& smaller, const ExtentSubstitution& extents);

}  // namespace tunesmith
