// Checks that a program is well formed, after every module and in tests. A violation is a bug of the
// transformation.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// "" if the program is well formed, else the problem and the program with the place marked. Checks: parent
/// links; ids, names and variables are unique; variables are defined before use; buffers are declared, inputs
/// are not written, reads follow writes; bindings stay inside the iterators' domains, indices inside shapes;
/// concurrent loops carry no dependence. For scheduled programs, not lowered ones. No false positives.
std::string verify(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
