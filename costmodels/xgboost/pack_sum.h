// What a program's rows say of its time, learned. A program takes as long as its stores together, and a store
// as long as the analytical model says times the exponential of a sum of boosted trees over the store's row.
// So before anything is learned the order is the analytical model's, and trees say where it is wrong. What is
// fitted is the logarithm of a program's time, within a task: by which factor a whole task is estimated wrong
// is nothing that an order needs, and no tree has to explain it.
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

/// What is learned follows from the settings and the samples in their order. Objects share nothing.
class PackSum {
 public:
  explicit PackSum(const Settings& settings);

  /// Of the rows that it is given from now on: before anything is learned or loaded. Without it they are
  /// those that what is loaded was learned from, or the kernel's alone.
  void use_columns(std::span<const FeatureColumn> columns);
  /// Of the machine that programs are from now on for.
  void set_machine(const DeviceModel& device) { machine_ = analytical::machine_from(device); }
  /// Back to what was loaded, or to nothing.
  void forget();
  /// Grows at most so many trees more on `samples`, and stops before by the error on `test`, if that has
  /// programs enough to say.
  void grow(std::span<const Sample> samples, std::span<const Sample> test, int trees);
  /// Minus the logarithm of the time, whatever its unit; one for each program.
  std::vector<double> predict(std::span<const FeatureRows* const> programs) const;
  /// Trees so far.
  int trees() const { return booster_ ? booster_->trees() : 0; }
  /// By the gain of the splits.
  std::vector<FeatureImportance> importance() const;

  /// What has been learned, as bytes; "" when nothing has.
  std::string save() const;
  /// Throws UserError when the bytes are no such thing, or were made for other columns of features.
  void load(std::string_view saved);

 private:
  class Batch;
  Parameters parameters() const;

  Settings settings_;
  std::vector<std::string> inputs_;  // names
  bool told_ = false;                // which columns there are
  analytical::Machine machine_;
  std::string loaded_;  // what is learned on; "" for nothing
  std::optional<Booster> booster_;
};

}  // namespace tunesmith::xgboost
