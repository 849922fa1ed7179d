// A PackSum as a cost model uses it: told of measurements as they come, it learns in steps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/search/candidate.h>
#include <tunesmith/target/device_model.h>

#include "pack_sum.h"

namespace tunesmith::xgboost {

/// What is learned follows from the settings and the programs in their order, and not from how many of them
/// come at a time.
class Learner {
 public:
  explicit Learner(const Settings& settings) : settings_(settings), trees_(settings) {}

  /// Before anything else: PackSum::use_columns().
  void use_columns(std::span<const FeatureColumn> columns) { trees_.use_columns(columns); }
  /// Keeps what was learned of the tasks before.
  void begin(const DeviceModel& device);
  void update(std::span<const Measured> results);
  /// How many programs of this task it was trained on.
  size_t learned() const { return learned_; }
  /// Is the n-th program of this task one that trees are never grown on?
  bool is_held_out(size_t n) const;
  std::vector<double> predict(std::span<const CandidatePtr> candidates) const;
  const PackSum& trees() const { return trees_; }
  std::string save() const { return trees_.save(); }
  void load(std::string_view saved) { trees_.load(saved); }

 private:
  struct Program {
    FeatureRows rows;  // none when it is not learned from any more
    double seconds = 0.0;
  };
  size_t next_step(size_t step) const;
  void learn_first(size_t count, bool anew);
  std::vector<bool> chosen_of_first(size_t count) const;

  Settings settings_;
  DeviceModel device_;
  PackSum trees_;
  std::vector<std::vector<Program>> earlier_;  // of the tasks before the one under way
  std::vector<Program> programs_;              // of the one under way
  size_t learned_ = 0;                         // of those
  size_t learned_anew_ = 0;                    // when the trees were last grown from what was loaded
};

}  // namespace tunesmith::xgboost
