// Trains a PackSum incrementally, in steps, as measurements arrive.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/search/candidate.h>
#include <tunesmith/target/device_model.h>

#include "pack_sum.h"

namespace tunesmith::xgboost {

/// The result depends only on the settings and the programs in order, not on how many arrive at a time.
class Learner {
 public:
  explicit Learner(const Settings& settings) : settings_(settings), trees_(settings) {}

  /// Calls PackSum::use_columns(). Must be called first.
  void use_columns(std::span<const FeatureColumn> columns) { trees_.use_columns(columns); }
  /// Begins a task, and keeps what was learned from earlier tasks.
  void begin(const DeviceModel& device);
  void update(std::span<const Measured> results);
  /// The number of programs of this task that it was trained on.
  size_t learned() const { return learned_; }
  /// Is the n-th program of this task held out, so that no tree is grown on it?
  bool is_held_out(size_t n) const;
  std::vector<double> predict(std::span<const CandidatePtr> candidates) const;
  const PackSum& trees() const { return trees_; }
  std::string save() const { return trees_.save(); }
  void load(std::string_view saved) { trees_.load(saved); }

 private:
  struct Program {
    FeatureRows rows;  // empty once not needed for learning
    double seconds = 0.0;
  };
  size_t next_step(size_t step) const;
  void learn_first(size_t count, bool anew);
  std::vector<bool> chosen_of_first(size_t count) const;

  Settings settings_;
  DeviceModel device_;
  PackSum trees_;
  std::vector<std::vector<Program>> earlier_;  // of earlier tasks
  std::vector<Program> programs_;              // of the current task
  size_t learned_ = 0;                         // number of programs_ that were learned
  size_t learned_anew_ = 0;                    // learned_ at the last full retraining
};

}  // namespace tunesmith::xgboost
