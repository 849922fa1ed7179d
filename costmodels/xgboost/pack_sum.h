// Learns a program's time from its rows. A program's time is the sum of its stores' times; a store's time is
// the analytical estimate times the exponential of a sum of boosted trees over its row. So before learning
// the order is that of the analytical model, and trees correct it. The target is the logarithm of a program's
// time within a task: a constant factor of a whole task does not affect the order, so no tree has to explain
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/performance/features.h>
#include <tunesmith/search/cost_model.h>

#include "../analytical/estimate.h"
#include "booster.h"
#include "settings.h"

namespace tunesmith::xgboost {

/// A program that was measured.
struct Sample {
  const FeatureRows* rows = nullptr;
  double seconds = 0.0;  // infinite for a failure
  size_t task = 0;       // only programs of one task are compared
};

/// The result depends only on the settings and the samples in order. Objects share nothing.
class PackSum {
 public:
  explicit PackSum(const Settings& settings);

  /// Sets the columns of future rows, before learning or loading. By
  /// default they are those of the loaded model, or the kernel's.
  void use_columns(std::span<const FeatureColumn> columns);
  /// Sets the machine of future programs.
  void set_machine(const DeviceModel& device) { machine_ = analytical::machine_from(device); }
  /// Resets to the loaded model, or to nothing.
  void forget();
  /// Grows at most `trees` trees on `samples`, with early stopping by the error on `test` if that has enough
  /// programs.
  void grow(std::span<const Sample> samples, std::span<const Sample> test, int trees);
  /// Minus the logarithm of each program's time, in an arbitrary unit.
  std::vector<double> predict(std::span<const FeatureRows* const> programs) const;
  /// The number of trees.
  int trees() const { return booster_ ? booster_->trees() : 0; }
  /// The importance by the gain of the splits.
  std::vector<FeatureImportance> importance() const;

  /// The learned state as bytes; "" if there is none.
  std::string save() const;
  /// Throws UserError if the bytes are invalid, or made for other feature columns.
  void load(std::string_view saved);

 private:
  class Batch;
  Parameters parameters() const;

  Settings settings_;
  std::vector<std::string> inputs_;  // names
  bool told_ = false;                // use_columns() was called
  analytical::Machine machine_;
  std::string loaded_;  // the initial model; "" for none
  std::optional<Booster> booster_;
};

}  // namespace tunesmith::xgboost
