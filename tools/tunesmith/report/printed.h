// Reads the --json output of other commands for the report.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::report {

/// The output of `compare --json`. Throws UserError for an invalid file.
nlohmann::json comparisons(const std::vector<std::string>& files);

/// The output of `network bench --json`. Throws UserError for an invalid file.
nlohmann::json networks(const std::vector<std::string>& files);

}  // namespace tunesmith::report
