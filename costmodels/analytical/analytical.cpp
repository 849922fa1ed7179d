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
    machine_ = analytical::machine_from(device);
  }
  void update(std::span<const CandidatePtr> /*candidates*/,
              std::span<const double> /*throughputs*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates) {
      scores.push_back(-std::log(analytical::estimate_cycles(candidate->lowered.program, machine_)));
    }
    return scores;
  }

 private:
  analytical::Machine machine_;
};

}  // namespace

TUNESMITH_PLUGIN(Analytical, PluginKind::CostModel, "analytical", "0.1.0",
                 "estimate time from loops and accesses; learns nothing, needs no measurements");
