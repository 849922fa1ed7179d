// A second copy of a piece of the program.
#pragma once

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// A copy of `stmt` with loops, blocks and variables of its own; blocks get fresh names. `fresh` gets the new
/// loop variables and iterators for the old ones. Put each copy into the tree before making the next: names
/// are fresh with regard to the tree.
StmtPtr fresh_copy(Program& program, const Stmt& stmt, Substitution* fresh);

}  // namespace tunesmith
