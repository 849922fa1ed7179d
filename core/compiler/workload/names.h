// Identifiers and reserved words of the expression language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/expr.h"

namespace tunesmith::workload {

/// May it begin a name: a to z, A to Z, or '_'?
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Letters, digits and '_', beginning with a letter or '_'.
bool is_identifier(std::string_view name);

/// Is it a function, reduction, word operator, constant or data type, which is not allowed as a name?
bool is_reserved(std::string_view name);

/// Functions and reductions, for messages.
const std::vector<std::string>& function_names();

/// The kernel's elementwise function with this name.
std::optional<MathOp> parse_math_op(std::string_view name);

}  // namespace tunesmith::workload
