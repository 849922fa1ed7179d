// Copies parts of a program.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A copy of `stmt` with its own loops, blocks, allocated buffers and variables, under fresh names. `fresh`
/// maps old loop variables and iterators to new ones. Insert each copy into the program before making the
/// next: names are fresh with respect to the program's tree.
StmtPtr fresh_copy(Program& program, const Stmt& stmt, Substitution* fresh);

/// Makes a new variable with the same name for each loop.
Substitution fresh_vars(std::span<Loop* const> loops);

/// Copies the loops around `body`: with their extents and kinds, from 0, without annotations, with the
/// variables in `fresh`.
StmtPtr copy_loops(Program& program, std::span<Loop* const> loops, const Substitution& fresh, StmtPtr body);

}  // namespace tunesmith
#pragma GCC visibility pop
