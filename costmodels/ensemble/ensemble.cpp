// The analytical model until the learned one orders programs better that it has not learnt from, then more
// and more the learned one.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/cost_model.h>

#include "../analytical/estimate.h"
#include "../xgboost/learner.h"
#include "options.h"

namespace {

using namespace tunesmith;

/// Of all pairs that were measured differently, the share that the scores order as the throughputs do.
double pairs_in_order(const std::vector<double>& scores, const std::vector<double>& throughputs) {
  double pairs = 0.0;
  double right = 0.0;
  for (size_t a = 0; a < scores.size(); ++a) {
    for (size_t b = 0; b < scores.size(); ++b) {
      if (throughputs[a] <= throughputs[b]) continue;
      pairs += 1.0;
      right += scores[a] > scores[b] ? 1.0 : scores[a] == scores[b] ? 0.5 : 0.0;
    }
  }
  return pairs > 0.0 ? right / pairs : 0.5;
}

/// Scores are throughputs relative to the best measured.
class Ensemble final : public CostModel {
 public:
  explicit Ensemble(const Options& options)
      : window_(static_cast<size_t>(options.get_int("window"))),
        margin_(options.get_double("margin")),
        learner_(xgboost::settings_of(options)) {}

  bool reads_features() const override { return true; }

  void begin(const Workload& /*workload*/, const DeviceModel& device) override {
    machine_ = analytical::machine_from(device);
    learner_.begin(device);
  }

  void update(std::span<const CandidatePtr> candidates, std::span<const double> throughputs) override {
    learner_.update(candidates, throughputs);
    const size_t begin = candidates.size() - std::min(candidates.size(), window_);
    calibrate(candidates.subspan(begin), throughputs.subspan(begin));
    compare(candidates, throughputs, begin);
  }

  std::vector<double> predict(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores = estimates(candidates);
    for (double& score : scores) score = std::exp(std::min(0.0, offset_ + slope_ * score));
    if (share_ <= 0.0) return scores;
    const std::vector<double> learnt = learner_.predict(candidates);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] += share_ * (learnt[i] - scores[i]);
    return scores;
  }

  std::string save() const override {
    const std::string learnt = learner_.save();
    return learnt.empty() ? "" : fmt::format("{}{} {} {}\n", kMagic, share_, slope_, offset_) + learnt;
  }

  void load(std::string_view saved) override {
    const size_t end = saved.find('\n');
    if (!saved.starts_with(kMagic) || end == std::string_view::npos)
      throw UserError("this is no model that ensemble has saved");
    std::istringstream head{std::string(saved.substr(kMagic.size(), end - kMagic.size()))};
    double share = 0.0;
    double slope = 0.0;
    double offset = 0.0;
    if (!(head >> share >> slope >> offset)) throw UserError("the model is damaged", "train it again");
    learner_.load(saved.substr(end + 1));
    share_ = share;
    slope_ = slope;
    offset_ = offset;
  }

 private:
  /// The analytical model's: minus the logarithm of the cycles.
  std::vector<double> estimates(std::span<const CandidatePtr> candidates) const {
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates)
      scores.push_back(-std::log(analytical::estimate_cycles(candidate->lowered.program, machine_)));
    return scores;
  }

  /// The straight line from estimates to logarithms of throughputs.
  void calibrate(std::span<const CandidatePtr> candidates, std::span<const double> throughputs) {
    const std::vector<double> scores = estimates(candidates);
    double n = 0.0;
    double x = 0.0;
    double y = 0.0;
    double xx = 0.0;
    double xy = 0.0;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (throughputs[i] <= 0.0) continue;
      const double log = std::log(throughputs[i]);
      n += 1.0;
      x += scores[i];
      y += log;
      xx += scores[i] * scores[i];
      xy += scores[i] * log;
    }
    const double spread = n * xx - x * x;
    if (n < 2.0 || spread < 1e-9) return;
    constexpr double kLeast = 0.05;  // the order is kept, however little it says
    slope_ = std::max(kLeast, (n * xy - x * y) / spread);
    offset_ = (y - slope_ * x) / n;
  }

  /// On what the trees were never grown on.
  void compare(std::span<const CandidatePtr> candidates, std::span<const double> throughputs, size_t begin) {
    std::vector<CandidatePtr> unseen;
    std::vector<double> measured;
    for (const size_t place : learner_.held_out()) {
      if (place < begin) continue;
      unseen.push_back(candidates[place]);
      measured.push_back(throughputs[place]);
    }
    constexpr size_t kFewest = 6;
    share_ = 0.0;
    if (!learner_.learnt() || unseen.size() < kFewest) return;
    const double better =
        pairs_in_order(learner_.predict(unseen), measured) - pairs_in_order(estimates(unseen), measured);
    share_ = std::clamp(better / margin_, 0.0, 1.0);
  }

  static constexpr std::string_view kMagic = "tunesmith ensemble 1 ";

  size_t window_;
  double margin_;
  analytical::Machine machine_;
  xgboost::Learner learner_;
  double share_ = 0.0;  // of the learned model
  double slope_ = 1.0;
  double offset_ = 0.0;
};

}  // namespace

TUNESMITH_PLUGIN(Ensemble, PluginKind::CostModel, "ensemble", "0.1.0",
                 "the analytical model, and xgboost as far as it orders unseen programs better",
                 tunesmith::ensemble::option_specs());
