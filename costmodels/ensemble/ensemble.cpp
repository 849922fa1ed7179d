// Interpolates between the analytical model and the learned one, by how much better the learned one orders
// programs that it has not learned from.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/score_quality.h>

#include "../analytical/estimate.h"
#include "../xgboost/learner.h"
#include "../xgboost/model_from_file.h"
#include "options.h"

namespace {

using namespace tunesmith;

/// Scores are minus the logarithm of the time: a difference of 1 is a factor of e in time.
class Ensemble final : public CostModel {
 public:
  explicit Ensemble(const Options& options)
      : window_(static_cast<size_t>(options.get_int("window"))),
        margin_(options.get_double("margin")),
        file_("ensemble", options),
        learner_(xgboost::settings_of(options)) {}

  void use_columns(std::span<const FeatureColumn> added) override {
    learner_.use_columns(feature_columns_with(added));
    file_.load_into(*this);
  }

  void begin(const Workload& /*workload*/, const DeviceModel& device) override {
    file_.load_into(*this);
    device_ = device;
    machine_ = analytical::machine_from(device);
    learner_.begin(device);
    unseen_.clear();
    told_ = 0;
  }

  void update(std::span<const Measured> results) override {
    for (const Measured& result : results) {
      if (learner_.is_held_out(told_++))
        unseen_.push_back(
            {told_, features_of(*result.candidate, device_), result.timing ? 1.0 / result.timing->min : 0.0});
    }
    learner_.update(results);
    std::erase_if(unseen_, [&](const Unseen& one) { return one.number + window_ <= told_; });
    compare();
  }

  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const FeatureRows* rows : features_of(candidates, device_)) scores.push_back(estimate(*rows));
    if (share_ <= 0.0) return scores;
    const std::vector<double> learned = learner_.predict(candidates);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] += share_ * (learned[i] - scores[i]);
    return scores;
  }

  std::string save() const override {
    const std::string learned = learner_.save();
    return learned.empty() ? "" : fmt::format("{}{}\n", kMagic, share_) + learned;
  }

  void load(std::string_view saved) override {
    const size_t end = saved.find('\n');
    if (!saved.starts_with(kMagic) || end == std::string_view::npos)
      throw UserError("not a model saved by ensemble");
    std::istringstream head{std::string(saved.substr(kMagic.size(), end - kMagic.size()))};
    double share = 0.0;
    if (!(head >> share)) throw UserError("the model is damaged", "retrain it");
    learner_.load(saved.substr(end + 1));
    share_ = share;
  }

  std::vector<FeatureImportance> importance() const override { return learner_.trees().importance(); }

 private:
  /// A held-out program, which no tree is grown on.
  struct Unseen {
    size_t number;
    FeatureRows rows;
    double throughput;
  };

  double estimate(const FeatureRows& rows) const {
    return -std::log(analytical::estimate_cycles(rows, machine_));
  }

  void compare() {
    constexpr size_t kMinUnseen = 6;
    if (learner_.learned() == 0 || unseen_.size() < kMinUnseen) return;
    std::vector<const FeatureRows*> rows;
    std::vector<double> estimates;
    std::vector<double> measured;
    for (const Unseen& one : unseen_) {
      rows.push_back(&one.rows);
      estimates.push_back(estimate(one.rows));
      measured.push_back(one.throughput);
    }
    const double better =
        pairs_in_order(learner_.trees().predict(rows), measured) - pairs_in_order(estimates, measured);
    share_ = std::clamp(better / margin_, 0.0, 1.0);
  }

  static constexpr std::string_view kMagic = "tunesmith ensemble 2 ";

  size_t window_;
  double margin_;
  DeviceModel device_;
  analytical::Machine machine_;
  xgboost::ModelFromFile file_;
  xgboost::Learner learner_;
  std::vector<Unseen> unseen_;  // the held-out ones of the latest programs
  size_t told_ = 0;
  double share_ = 0.0;  // weight of the learned model
};

}  // namespace

TUNESMITH_PLUGIN(Ensemble, PluginKind::CostModel, "ensemble", "0.3.0",
                 "analytical, combined with xgboost as far as it ranks unseen programs better",
                 tunesmith::ensemble::option_specs());
