// The page of a report: one HTML file that needs nothing else.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tunesmith::report {

/// False if the charting library was missing at build time: then the page has tables only, and says so.
bool draws_charts();

/// `data`: from report_data().
std::string page(const nlohmann::json& data, bool charts = draws_charts());

}  // namespace tunesmith::report
