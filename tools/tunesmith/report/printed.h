// What other commands printed with --json, read from files for the report.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::report {

/// What `compare --json` printed. Throws UserError for a file that is no such thing.
nlohmann::json comparisons(const std::vector<std::string>& files);

/// What `network bench --json` printed. Throws UserError for a file that is no such thing.
nlohmann::json networks(const std::vector<std::string>& files);

}  // namespace tunesmith::report
