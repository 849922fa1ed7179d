// Comparisons of ways of searching, for the report.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::report {

/// What `compare --json` printed, read from files. Throws UserError for a file that is no such thing.
nlohmann::json comparisons(const std::vector<std::string>& files);

}  // namespace tunesmith::report
