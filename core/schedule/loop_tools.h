// What the loop primitives share.
#pragma once

#include <string_view>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Throws ScheduleError unless the loop is serial, without annotations and of constant extent from 0: a new
/// loop could not carry what was said of the old one.
void require_plain_loop(const Program& program, const Loop& loop, std::string_view primitive);

/// Under `stmt`: `var` becomes `index` in bindings and predicates, and blocks get `predicate` (when not null)
/// besides theirs. Goes down to the outermost blocks only: what is inside a block speaks of the block's own
/// variables.
void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate);

/// Brings the bindings and predicates of the outermost blocks under `stmt` into canonical form.
void simplify_bindings(Stmt& stmt);

}  // namespace tunesmith
