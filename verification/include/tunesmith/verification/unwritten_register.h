// Does a wrong program read a register that nothing has written?
#pragma once

#include "tunesmith/ir/program.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {

/// Does `program`, lowered for a target with `options`, read an element of a register buffer before it is
/// written? Such a value is the compiler's choice: it may choose the right one, and then the compiled program
/// is right. Memory is no such choice: it is poisoned before each verified call. Interprets the program.
bool reads_unwritten_register(const Program& program, const LowerOptions& options);

}  // namespace tunesmith
