// Counts the arithmetic of a part of a program.
#pragma once

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The arithmetic of one execution of the statement, counted as in Workload::flops. Its loops must have
/// constant extents.
double count_flops(const Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
