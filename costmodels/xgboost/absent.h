// Replaces a cost model in a build without XGBoost: its constructor reports what is missing.
#pragma once

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

namespace tunesmith::xgboost {

class Absent final : public CostModel {
 public:
  explicit Absent(const Options& /*options*/) {
    throw EnvironmentError(
        "this Tunesmith was built without XGBoost: install libxgboost-dev and build it again");
  }
  void begin(const Workload& /*workload*/, const DeviceModel& /*device*/) override {}
  void update(std::span<const Measured> /*results*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> /*candidates*/) override { return {}; }
};

}  // namespace tunesmith::xgboost
