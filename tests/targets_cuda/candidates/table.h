// Prints the counts of candidates, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "operator_check.h"

namespace tunesmith::testing {

/// The table of one space: a line for each operator, and one for all.
std::string table_of(const std::vector<OperatorCounts>& operators,
                     const std::vector<std::string>& architectures);

nlohmann::json json_of(const OperatorCounts& counts);

}  // namespace tunesmith::testing
