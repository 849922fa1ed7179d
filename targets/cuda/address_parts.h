// An address as compilers like it: what stays the same first, which they compute once, and what they know
// last, which becomes a part of the instruction.
#pragma once

#include <string>

#include "expr_text.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

struct AddressParts {
  Expr fixed = 0;    // what blocks and threads tell
  Expr moving = 0;   // what loops with barriers tell, as of a stage
  Expr counted = 0;  // what other loops tell, which compilers write out, and constants
};

/// The terms of an offset in the statement.
AddressParts address_parts(const Expr& offset, const Stmt& at);

/// What is added to a pointer to the fixed part: "stage * 512 + (i * 16 + 8)".
std::string moving_text(const AddressParts& parts, const Analyzer& ranges, ExprText& exprs);

}  // namespace tunesmith::cuda
