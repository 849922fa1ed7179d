// Programs that need no search: what the answer of a search must not be slower than.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/target/target.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Complete traces: the program as it is, and with the outermost loop of each of its nests parallel where
/// that is legal (the outermost of more than one iteration). The second is left out where it would be the
/// first. On a device that runs programs itself, where one thread would take too long, it is one program: its
/// outermost loops by threads.
std::vector<Trace> plain_forms(const Program& program, Target& target);

}  // namespace tunesmith
