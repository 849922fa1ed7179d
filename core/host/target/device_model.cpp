#include "tunesmith/target/device_model.h"

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {

std::optional<double> DeviceModel::find(std::string_view name) const {
  const auto found = quantities_.find(name);
  if (found == quantities_.end()) return std::nullopt;
  return found->second;
}

double DeviceModel::get(std::string_view name) const {
  const std::optional<double> value = find(name);
  if (value) return *value;
  std::vector<std::string> known;
  for (const auto& [key, unused] : quantities_) known.push_back(key);
  throw EnvironmentError(fmt::format("the target has no quantity '{}'; {}", name, suggest(name, known)));
}

double DeviceModel::get_or(std::string_view name, double fallback) const {
  return find(name).value_or(fallback);
}

}  // namespace tunesmith
