// The arithmetic of a part of a program.
#pragma once

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// As count_flops() of a program (workload.h) counts it, of one run of the statement. Loops under it have
/// constant extents.
double count_flops(const Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
