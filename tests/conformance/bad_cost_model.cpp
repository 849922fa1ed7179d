// Scores by the program's hash, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<int> inside;
std::atomic<int> objects;

class BadCostModel final : public CostModel {
 public:
  BadCostModel() {
    if (mistake("lacks_a_library")) throw EnvironmentError("libhope is not installed");
  }
  void begin(const Workload& /*workload*/, const DeviceModel& /*device*/) override { misbehave("begin"); }
  void update(std::span<const Measured> results) override {
    misbehave("update");
    learned_ = true;
    best_ = 0.0;
    for (const Measured& result : results) {
      if (result.timing) best_ = std::max(best_, 1.0 / result.timing->min);
    }
  }
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    misbehave("predict");
    const bool alone = inside++ == 0;
    if (mistake("shares_state")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates) {
      double score = RandomStream(1, candidate->lowered_hash).uniform();
      if (learned_) score = 1.0 - score;
      if (mistake("nan")) score = std::numeric_limits<double>::quiet_NaN();
      if (mistake("predicting_learns")) score += ++predictions_;
      if (mistake("objects_differ")) score += number_;
      if (mistake("shares_state") && !alone) score = 0.0;
      if (mistake("divides_by_the_best")) score /= best_ == 0.0 ? 0.0 : 1.0;
      scores.push_back(score);
    }
    if (mistake("one_too_few") && !scores.empty()) scores.pop_back();
    --inside;
    return scores;
  }
  std::string save() const override { return learned_ ? "learned" : ""; }
  void load(std::string_view saved) override { learned_ = saved == "learned" && !mistake("loads_nothing"); }

 private:
  const int number_ = objects++;
  bool learned_ = false;
  double best_ = 1.0;
  int predictions_ = 0;
};

}  // namespace

TUNESMITH_PLUGIN(BadCostModel, PluginKind::CostModel, "bad_cost_model", "1.0.0",
                 "makes the mistake that it is asked for");
