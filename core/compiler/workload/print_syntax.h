// Statements as the text that the parser reads.
#pragma once

#include <string>

#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// "C[i<4] = A[i] + 1", in one line. Axes have their extents where the tree has them.
std::string to_text(const StatementSyntax& statement);

}  // namespace tunesmith::workload
