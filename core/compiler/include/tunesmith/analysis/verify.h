// Is a program well formed? Called after every module and in tests; a transformation that breaks this is a
// bug.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// "" when well formed, else what is wrong and the program with the place marked: parent links; ids, names
/// and variables unique; variables defined before use; buffers declared, inputs not written, nothing read
/// that no block before has written; bindings inside the iterators' domains where the predicate holds;
/// indices inside the buffers' shapes; concurrent loops without a dependence that they carry. For programs of
/// a schedule, not for lowered ones. Reports no false alarm.
std::string verify(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
