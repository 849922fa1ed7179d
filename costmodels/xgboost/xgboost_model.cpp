#include <tunesmith/plugin/plugin.h>

#include "learner.h"
#include "model_from_file.h"

namespace {

using namespace tunesmith;

/// Scores are minus the logarithm of the time: a difference of 1 is a factor of e in time.
class XGBoost final : public CostModel {
 public:
  explicit XGBoost(const Options& options)
      : file_("xgboost", options), learner_(xgboost::settings_of(options)) {}

  void use_columns(std::span<const FeatureColumn> added) override {
    learner_.use_columns(feature_columns_with(added));
    file_.load_into(*this);
  }
  void begin(const Workload& /*workload*/, const DeviceModel& device) override {
    file_.load_into(*this);
    learner_.begin(device);
  }
  void update(std::span<const Measured> results) override { learner_.update(results); }
  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    return learner_.predict(candidates);
  }
  std::string save() const override { return learner_.save(); }
  void load(std::string_view saved) override { learner_.load(saved); }
  std::vector<FeatureImportance> importance() const override { return learner_.trees().importance(); }

 private:
  xgboost::ModelFromFile file_;
  xgboost::Learner learner_;
};

}  // namespace

TUNESMITH_PLUGIN(XGBoost, PluginKind::CostModel, "xgboost", "0.3.0",
                 "boosted trees over store features that correct the analytical estimate",
                 xgboost::option_specs());
