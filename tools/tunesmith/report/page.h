// The page of a report: one HTML file that needs nothing else.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::report {

/// Does the page draw charts? Not when the charting library was absent where this was built: then the same
/// data stand in tables alone, and the page says so.
bool draws_charts();

/// `data` as report_data() gives it.
std::string page(const nlohmann::json& data, bool charts = draws_charts());

}  // namespace tunesmith::report
