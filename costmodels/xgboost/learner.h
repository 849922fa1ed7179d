// A PackSum as a cost model uses it: fed with candidates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/search/candidate.h>
#include <tunesmith/target/device_model.h>

#include "pack_sum.h"

namespace tunesmith::xgboost {

class Learner {
 public:
  explicit Learner(const Settings& settings) : trees_(settings) {}

  /// Keeps what was learnt of the tasks before.
  void begin(const DeviceModel& device);
  void update(std::span<const CandidatePtr> candidates, std::span<const double> throughputs);
  bool learnt() const { return trees_.learnt(); }
  /// Of the candidates last told, those that the trees were never grown on.
  std::vector<size_t> held_out() const;
  std::vector<double> predict(std::span<const CandidatePtr> candidates) const;
  std::string save() const { return trees_.save(); }
  void load(std::string_view saved) { trees_.load(saved); }

 private:
  DeviceModel device_;
  PackSum trees_;
  // Of the tasks before the one under way.
  std::vector<FeatureRows> earlier_;
  std::vector<double> earlier_throughputs_;
  // Of the one under way, as last told.
  std::vector<CandidatePtr> candidates_;
  std::vector<double> throughputs_;
};

}  // namespace tunesmith::xgboost
