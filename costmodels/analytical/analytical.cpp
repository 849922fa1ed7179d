#include <cmath>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

#include "estimate.h"

namespace {

using namespace tunesmith;

/// Scores are the negative logarithm of the estimated cycles: a difference of 1 is a factor of e in time.
class Analytical final : public CostModel {
 public:
  void begin(const Workload& /*workload*/, const DeviceModel& device) override {
    device_ = device;
    machine_ = analytical::machine_from(device);
  }
  void update(std::span<const Measured> /*results*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const FeatureRows* rows : features_of(candidates, device_))
      scores.push_back(-std::log(analytical::estimate_cycles(*rows, machine_)));
    return scores;
  }

 private:
  DeviceModel device_;
  analytical::Machine machine_;
};

}  // namespace

TUNESMITH_PLUGIN(Analytical, PluginKind::CostModel, "analytical", "0.4.0",
                 "analytical estimate of time from loops and accesses; needs no training");
