#include "interval.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "progress/progress.h"

namespace tunesmith::cli {

std::string interval_text(const QuantileInterval& interval) {
  if (interval.low && interval.high)
    return fmt::format("95 % of {} to {}", seconds_text(*interval.low), seconds_text(*interval.high));
  if (interval.samples == 1) return "one sample";
  if (interval.high)
    return fmt::format("95 % below {}, {} samples", seconds_text(*interval.high), interval.samples);
  return fmt::format("{} samples", interval.samples);
}

nlohmann::json interval_json(const QuantileInterval& interval) {
  const auto side = [](const std::optional<double>& seconds) {
    return seconds ? nlohmann::json(*seconds) : nlohmann::json(nullptr);
  };
  return nlohmann::json::array({side(interval.low), side(interval.high)});
}

}  // namespace tunesmith::cli
