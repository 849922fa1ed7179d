// Parses statements of the workload language alone, as operators of networks give them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/workload/syntax.h"

#pragma GCC visibility push(default)
namespace tunesmith::workload {

/// Parses the text of `compute:` in a workload's file. `file` is named in errors. Throws UserError.
std::vector<StatementSyntax> parse_statements(std::string_view text, const std::string& file);

}  // namespace tunesmith::workload
#pragma GCC visibility pop
