// Parses the expression language (docs/workload-language.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// Operator precedences, increasing.
enum class Binding : uint8_t { None, Or, And, Not, Comparison, Sum, Product, Negation, Operand };

/// None if `op` is not a binary operator.
Binding binding(std::string_view op);
constexpr Binding stronger(Binding than) { return static_cast<Binding>(static_cast<uint8_t>(than) + 1); }

/// Parses one expression over parameter names. Throws UserError with the exact location.
SyntaxPtr parse_expression(const YamlNode& scalar);

/// Parses the statements of a `compute` text, at least one. Throws UserError with the exact location.
std::vector<StatementSyntax> parse_statements(const YamlNode& scalar);

}  // namespace tunesmith::workload
