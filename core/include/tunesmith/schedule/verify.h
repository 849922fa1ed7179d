// Is a program well formed? Called after every module and in tests; a transformation that breaks this is a
// bug.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// "" when well formed, else what is wrong and where: parent links, unique ids and names, variables defined
/// before use, bindings inside the iterators' domains (where the predicate holds), spatial bindings injective
/// over the loops, indices inside the buffers' shapes (for blocks whose bounds can be shown), buffers
/// declared.
std::string verify(const Program& program);

}  // namespace tunesmith
