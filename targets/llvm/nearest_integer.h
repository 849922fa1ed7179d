// Recognises expressions for the nearest integer, for which processors have an instruction.
#pragma once

#include "tunesmith/ir/expr.h"

namespace tunesmith::llvm_target {

/// x if the expression is the integer nearest to x, halves to even, written by floor and ceil: with n =
/// floor(x + 0.5) + ceil(x - 0.5), floor(n * 0.25 + 0.25) + ceil(n * 0.25 - 0.25). Null otherwise.
const Expr* rounded_to_even(const Expr& expr);

/// v if the expression is floor(v + 0.5) and v is an integer for all values of its variables. Null otherwise.
const Expr* rounded_integer(const Expr& expr);

}  // namespace tunesmith::llvm_target
