// Grammar of the expression language: docs/workload-language.md.
#pragma once

#include <vector>

#include "tunesmith/support/yaml.h"
#include "workload/syntax.h"

namespace tunesmith::workload {

/// One expression, over names of parameters. Throws UserError at the exact place.
SyntaxPtr parse_expression(const YamlNode& scalar);

/// The statements of a `compute` text, at least one. Throws UserError at the exact place.
std::vector<StatementSyntax> parse_statements(const YamlNode& scalar);

}  // namespace tunesmith::workload
