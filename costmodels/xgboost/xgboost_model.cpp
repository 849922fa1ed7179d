#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

#include "learner.h"

namespace {

using namespace tunesmith;

/// Scores are predicted throughputs, relative to the best measured: about 0 to 1.
class XGBoost final : public CostModel {
 public:
  explicit XGBoost(const Options& options)
      : seed_(static_cast<uint64_t>(options.get_int("seed"))), learner_(xgboost::settings_of(options)) {}

  bool reads_features() const override { return true; }
  void begin(const Workload& /*workload*/, const DeviceModel& device) override { learner_.begin(device); }
  void update(std::span<const CandidatePtr> candidates, std::span<const double> throughputs) override {
    learner_.update(candidates, throughputs);
  }
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    if (learner_.learnt()) return learner_.predict(candidates);
    // Nothing is known: in any order, and not in that of the candidates.
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates)
      scores.push_back(RandomStream(seed_, candidate->lowered_hash).uniform());
    return scores;
  }
  std::string save() const override { return learner_.save(); }
  void load(std::string_view saved) override { learner_.load(saved); }

 private:
  uint64_t seed_;
  xgboost::Learner learner_;
};

}  // namespace

TUNESMITH_PLUGIN(XGBoost, PluginKind::CostModel, "xgboost", "0.1.0",
                 "boosted trees over the features of each store, learnt from what is measured",
                 xgboost::option_specs());
