// Programs that need no search; a search must not return slower ones.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/target/target.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Complete traces: the unscheduled program, and the program with the outermost
/// loop (of more than one iteration) of each nest parallel where that is legal,
/// unless that is the same. On a device that runs programs itself, where one
/// thread would take too long, a single program: its outermost loops over threads.
std::vector<Trace> plain_forms(const Program& program, Target& target);

}  // namespace tunesmith
