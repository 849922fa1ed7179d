// Words with a meaning of their own in the expression language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/expr.h"

namespace tunesmith::workload {

/// Of a name: a to z, A to Z, or '_'.
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Letters, digits and '_', beginning with a letter or '_'.
bool is_identifier(std::string_view name);

/// Functions, reductions, operators in words, constants and data types: no name may be one of them.
bool is_reserved(std::string_view name);

/// Everything that may stand before '(' besides data types, for messages.
const std::vector<std::string>& function_names();

/// The elementwise function of the kernel with this name.
std::optional<MathOp> parse_math_op(std::string_view name);

}  // namespace tunesmith::workload
