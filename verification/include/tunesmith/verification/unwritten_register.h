// Detects wrong programs that read an unwritten register.
#pragma once

#include "tunesmith/ir/program.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {

/// Does `program`, lowered for a target with `options`, read an element of a register buffer before it
/// is written? The compiler chooses such a value, and may choose the right one, so that the compiled
/// program is correct. (Memory is poisoned before each verified call.) Interprets the program.
bool reads_unwritten_register(const Program& program, const LowerOptions& options);

}  // namespace tunesmith
