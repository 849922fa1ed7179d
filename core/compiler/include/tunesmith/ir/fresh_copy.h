// A second copy of a piece of the program.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A copy of `stmt` with loops, blocks, allocations and variables of its own; blocks and buffers get fresh
/// names. `fresh` gets the new
/// loop variables and iterators for the old ones. Put each copy into the tree before making the next: names
/// are fresh with regard to the tree.
StmtPtr fresh_copy(Program& program, const Stmt& stmt, Substitution* fresh);

/// A new variable of the same name for that of each loop.
Substitution fresh_vars(std::span<Loop* const> loops);

/// Loops like these, from 0 and without annotations, around `body`; `fresh` has their variables.
StmtPtr copy_loops(Program& program, std::span<Loop* const> loops, const Substitution& fresh, StmtPtr body);

}  // namespace tunesmith
#pragma GCC visibility pop
