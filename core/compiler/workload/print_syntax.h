// Prints statements in the form that the parser reads.
#pragma once

#include <string>

#include "tunesmith/workload/syntax.h"

namespace tunesmith::workload {

/// "C[i<4] = A[i] + 1", in one line. Axes are printed with the extents that the tree has.
std::string to_text(const StatementSyntax& statement);

}  // namespace tunesmith::workload
