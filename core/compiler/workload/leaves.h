// Makes leaf expressions in the parser's form.
#pragma once

#include <cstdint>
#include <string>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

SyntaxPtr leaf(SyntaxKind kind, std::string text);
/// A negation if `value` is negative: the language has no negative literals.
SyntaxPtr integer_leaf(int64_t value);
SyntaxPtr real_leaf(double value);
SyntaxPtr type_leaf(DType type);

}  // namespace tunesmith::workload
