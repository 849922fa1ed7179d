// Copies a piece of a program.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A copy of `stmt` with loops, blocks, allocations and variables of its own; blocks and buffers get fresh
/// names. `fresh` gets the new
/// loop variables and iterators for the old ones. Put each copy into the tree before making the next: names
/// are fresh with regard to the tree.
StmtPtr fresh_copy(Program& program, const Stmt& stmt, Substitution* fresh);

/// Makes a new variable with the same name for each loop.
Substitution fresh_vars(std::span<Loop* const> loops);

/// Loops of the same extents, from 0 and without annotations, with the variables in `fresh`, around `body`.
StmtPtr copy_loops(Program& program, std::span<Loop* const> loops, const Substitution& fresh, StmtPtr body);

}  // namespace tunesmith
#pragma GCC visibility pop
