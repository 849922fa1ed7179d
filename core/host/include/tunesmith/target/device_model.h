// A machine as named quantities. Modules, validators, features
// and the roofline read these, never a device's name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// The quantities of a machine. The target defines which exist and what they mean (docs/targets.md lists
/// those of the built-in plugins). The name tells the unit: bytes, counts, seconds or bits.
class DeviceModel {
 public:
  void set(std::string name, double value) { quantities_[std::move(name)] = value; }
  std::optional<double> find(std::string_view name) const;
  /// Throws EnvironmentError with the quantity's name if the target does not define it.
  double get(std::string_view name) const;
  double get_or(std::string_view name, double fallback) const;
  const std::map<std::string, double, std::less<>>& all() const { return quantities_; }

  /// One line for people ("2 cores, 512-bit vectors"); nothing may depend on it.
  std::string description;

 private:
  std::map<std::string, double, std::less<>> quantities_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
