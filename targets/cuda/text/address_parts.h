// An address as compilers like it: what stays the same first, which they compute once, and what they know
// last, which becomes a part of the instruction.
#pragma once

#include <string>

#include "text/expr_text.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// The place of an element is  place_of(fixed) ^ place_of(turned) + moving + counted  by its buffer's
/// swizzle.
struct AddressParts {
  Expr fixed = 0;    // what blocks and threads tell, and of a swizzled buffer what would change its pattern
  Expr turned = 0;   // of what other loops tell, what changes other bits of an offset than all else
  Expr moving = 0;   // what loops with barriers tell, as of a stage
  Expr counted = 0;  // what other loops tell, which compilers write out, and constants
};

/// The terms of an offset in the statement. `own`: bits that what is added to the fixed part may have.
AddressParts address_parts(const Expr& offset, const Stmt& at, const Swizzle& swizzle = {}, uint64_t own = 0);

/// What is added to a pointer to the fixed part: "stage * 512 + (i * 16 + 8)".
std::string moving_text(const AddressParts& parts, const Analyzer& ranges, ExprText& exprs);

/// The whole address: "&A[x * 4 + own] + stage * 512 + (i * 16 + 8)". `own` may be empty.
std::string address_text(const Buffer& buffer, const AddressParts& parts, const std::string& own,
                         const Analyzer& ranges, ExprText& exprs);

/// Bits that numbers of these extents and strides, none negative, may have when they are added.
uint64_t bits_of_tile(std::span<const int64_t> extents, std::span<const int64_t> strides);

}  // namespace tunesmith::cuda
