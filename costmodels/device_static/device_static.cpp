// Estimates the times of programs for a grid of threads statically, from their statements and the machine's
// quantities: sectors and wavefronts by the addresses of threads in lockstep, occupancy, waves of blocks,
// arithmetic and instructions (tunesmith/performance/grid_work.h). Learns nothing.
#include <cmath>

#include <tunesmith/performance/grid_work.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

namespace {

using namespace tunesmith;

/// Scores are the negative logarithm of the seconds: a difference of 1 is a factor of e in time.
class DeviceStatic final : public CostModel {
 public:
  void use_execution(const ExecutionModel& execution) override { execution_ = &execution; }
  void begin(const Workload& /*workload*/, const DeviceModel& device) override {
    if (execution_ == nullptr || !lockstep_machine(*execution_, device)) {
      throw UserError("the cost model device_static needs a target with a grid of threads in lockstep",
                      "choose a space of such a target, or another cost model");
    }
    device_ = device;
  }
  void update(std::span<const Measured> /*results*/) override {}
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates)
      scores.push_back(-std::log(grid_seconds(candidate->lowered.program, *execution_, device_)));
    return scores;
  }

 private:
  const ExecutionModel* execution_ = nullptr;
  DeviceModel device_;
};

}  // namespace

TUNESMITH_PLUGIN(DeviceStatic, PluginKind::CostModel, "device_static", "0.1.0",
                 "analytical estimate of time on a device with a grid of threads; needs no training");
