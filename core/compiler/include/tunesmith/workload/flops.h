// Counts the arithmetic of a part of a program.
#pragma once

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Counts one run of the statement as count_flops() of a program
/// (workload.h) does. Loops under it have constant extents.
double count_flops(const Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
