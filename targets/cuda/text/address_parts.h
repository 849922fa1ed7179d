// Splits addresses for the compiler: first the invariant part, computed once,
// and last the constant part, which becomes an immediate of the instruction.
#pragma once

#include <string>

#include "text/expr_text.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// The place of an element is  place_of(fixed) ^ place_of(turned)
/// + moving + counted  with its buffer's swizzle.
struct AddressParts {
  Expr fixed = 0;    // terms of block and thread indices, and terms that change the swizzle pattern
  Expr turned = 0;   // terms of other loops that change separate bits of the offset
  Expr moving = 0;   // terms of loops with barriers, e.g. a stage
  Expr counted = 0;  // terms of other loops, which compilers unroll, and constants
};

/// The parts of an offset in the statement. `own`: bits that a summand of the fixed part may have.
AddressParts address_parts(const Expr& offset, const Stmt& at, const Swizzle& swizzle = {}, uint64_t own = 0);

/// What is added to a pointer to the fixed part: "stage * 512 + (i * 16 + 8)".
std::string moving_text(const AddressParts& parts, const Analyzer& ranges, ExprText& exprs);

/// The whole address: "&A[x * 4 + own] + stage * 512 + (i * 16 + 8)". `own` may be empty.
std::string address_text(const Buffer& buffer, const AddressParts& parts, const std::string& own,
                         const Analyzer& ranges, ExprText& exprs);

/// Bits that a sum of nonnegative indices with these extents and strides may have.
uint64_t bits_of_tile(std::span<const int64_t> extents, std::span<const int64_t> strides);

}  // namespace tunesmith::cuda
