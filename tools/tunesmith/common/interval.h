// Formats times with their intervals.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/tuning/ranking.h>

namespace tunesmith::cli {

/// "95 % of 821 us to 1.01 ms"; "95 % below 1.30 s,
/// 3 samples" without a lower end; "one sample".
std::string interval_text(const QuantileInterval& interval);

/// [low, high], null for a side that is not known.
nlohmann::json interval_json(const QuantileInterval& interval);

}  // namespace tunesmith::cli
