// Grammar of the expression language: docs/workload-language.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// How strongly operators bind: the higher, the more.
enum class Binding : uint8_t { None, Or, And, Not, Comparison, Sum, Product, Negation, Operand };

/// None of what is no operator between two operands.
Binding binding(std::string_view op);
constexpr Binding stronger(Binding than) { return static_cast<Binding>(static_cast<uint8_t>(than) + 1); }

/// One expression, over names of parameters. Throws UserError at the exact place.
SyntaxPtr parse_expression(const YamlNode& scalar);

/// The statements of a `compute` text, at least one. Throws UserError at the exact place.
std::vector<StatementSyntax> parse_statements(const YamlNode& scalar);

}  // namespace tunesmith::workload
