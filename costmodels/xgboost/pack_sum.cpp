#include "pack_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/random.h>

namespace tunesmith::xgboost {
namespace {

constexpr std::string_view kMagic = "tunesmith pack sum 1 ";

/// Of the columns' names and order: trees grown on other columns say nothing.
uint64_t columns_hash() {
  std::string names;
  for (const FeatureColumn& column : feature_columns()) names += column.name + "\n";
  return hash_bytes(names);
}

std::vector<float> concatenate(std::span<const FeatureRows* const> programs) {
  std::vector<float> values;
  for (const FeatureRows* rows : programs)
    values.insert(values.end(), rows->values.begin(), rows->values.end());
  return values;
}

std::vector<double> sums(std::span<const FeatureRows* const> programs, const std::vector<float>& values) {
  std::vector<double> sums;
  size_t row = 0;
  for (const FeatureRows* rows : programs) {
    double sum = 0.0;
    for (size_t i = 0; i < rows->rows(); ++i) sum += values[row++];
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

/// Programs with what was measured, as one matrix.
class PackSum::Batch {
 public:
  Batch(std::vector<const FeatureRows*> programs, std::vector<double> throughputs, const Settings& settings)
      : programs_(std::move(programs)),
        throughputs_(std::move(throughputs)),
        least_weight_(settings.least_weight),
        matrix_(concatenate(programs_), feature_columns().size(), settings.threads) {}

  /// One tree more against the gradient of the weighted squared error, which is the same for all rows of a
  /// program.
  void grow(Booster& booster) const {
    const std::vector<double> predicted = sums(programs_, booster.values(matrix_));
    std::vector<float> gradients;
    std::vector<float> hessians;
    for (size_t i = 0; i < programs_.size(); ++i) {
      const double gradient = weight(i) * (predicted[i] - throughputs_[i]);
      gradients.insert(gradients.end(), programs_[i]->rows(), static_cast<float>(gradient));
      hessians.insert(hessians.end(), programs_[i]->rows(), static_cast<float>(weight(i)));
    }
    booster.grow(matrix_, gradients, hessians);
  }

  double loss(const Booster& booster) const {
    const std::vector<double> predicted = sums(programs_, booster.values(matrix_));
    double loss = 0.0;
    for (size_t i = 0; i < programs_.size(); ++i) {
      const double error = predicted[i] - throughputs_[i];
      loss += weight(i) * error * error;
    }
    return loss;
  }

 private:
  double weight(size_t i) const { return std::max(throughputs_[i], least_weight_); }

  std::vector<const FeatureRows*> programs_;
  std::vector<double> throughputs_;
  double least_weight_;
  Matrix matrix_;
};

PackSum::PackSum(const Settings& settings) : settings_(settings) {}

Parameters PackSum::parameters() const {
  return {{"tree_method", "hist"},
          {"base_score", "0"},
          {"num_feature", fmt::format("{}", feature_columns().size())},
          {"verbosity", "0"},
          {"max_depth", fmt::format("{}", settings_.max_depth)},
          {"eta", fmt::format("{}", settings_.eta)},
          {"gamma", fmt::format("{}", settings_.gamma)},
          {"min_child_weight", fmt::format("{}", settings_.min_child_weight)},
          {"colsample_bytree", fmt::format("{}", settings_.column_share)},
          {"nthread", fmt::format("{}", settings_.threads)},
          {"seed", fmt::format("{}", settings_.seed)}};
}

void PackSum::forget() {
  booster_.reset();
  if (!loaded_.empty()) booster_.emplace(loaded_, parameters());
}

bool PackSum::is_held_out(size_t n) const {
  return RandomStream(settings_.seed, n).uniform() < settings_.held_out;
}

void PackSum::learn(std::span<const FeatureRows* const> programs, std::span<const double> throughputs,
                    size_t current) {
  const auto step = static_cast<size_t>(settings_.learn_every);
  const size_t end = programs.size() - programs.size() % step;
  if (end < learnt_) {  // another history than before
    forget();
    learnt_ = learnt_anew_ = 0;
  }
  // Nothing is left of what was learnt before the trees are grown anew, so it need not be learnt.
  size_t begin = learnt_ + step;
  size_t anew = learnt_anew_;
  for (size_t n = begin; n <= end; n += step) {
    if (anew == 0 || static_cast<double>(n) >= settings_.relearn_growth * static_cast<double>(anew))
      begin = anew = n;
  }
  for (size_t n = begin; n <= end; n += step)
    learn_first(programs.first(n), throughputs.first(n), current, n == anew);
  learnt_ = std::max(learnt_, end);
  learnt_anew_ = anew;
}

void PackSum::learn_first(std::span<const FeatureRows* const> programs, std::span<const double> throughputs,
                          size_t current, bool anew) {
  double most = 0.0;
  for (size_t i = current; i < programs.size(); ++i) most = std::max(most, throughputs[i]);
  std::vector<const FeatureRows*> learnt;
  std::vector<const FeatureRows*> held_out;
  std::vector<double> learnt_throughputs;
  std::vector<double> held_out_throughputs;
  for (size_t i = 0; i < programs.size(); ++i) {
    const double throughput = i >= current && most > 0.0 ? throughputs[i] / most : throughputs[i];
    const bool out = is_held_out(i);
    (out ? held_out : learnt).push_back(programs[i]);
    (out ? held_out_throughputs : learnt_throughputs).push_back(std::pow(throughput, settings_.power));
  }
  if (learnt.empty()) return;
  const Batch data(std::move(learnt), std::move(learnt_throughputs), settings_);
  constexpr size_t kFewest = 8;  // whose error says when to stop
  std::optional<Batch> test;
  if (held_out.size() >= kFewest)
    test.emplace(std::move(held_out), std::move(held_out_throughputs), settings_);

  if (anew) forget();
  if (!booster_) booster_.emplace(parameters());
  int best = booster_->trees();
  const int end = best + (anew ? settings_.trees : settings_.more_trees);
  double least = test && best > 0 ? test->loss(*booster_) : std::numeric_limits<double>::infinity();
  for (int trees = best; trees < end && trees - best < settings_.early_stopping;) {
    data.grow(*booster_);
    ++trees;
    const double loss = test ? test->loss(*booster_) : 0.0;
    if (test && loss >= least) continue;
    least = loss;
    best = trees;
  }
  if (best > 0 && best < booster_->trees()) booster_.emplace(Booster(*booster_, best, parameters()));
}

std::vector<double> PackSum::predict(std::span<const FeatureRows* const> programs) const {
  if (!booster_ || programs.empty()) return std::vector<double>(programs.size(), 0.0);
  const std::vector<float> rows = concatenate(programs);
  return sums(programs, booster_->values(rows, feature_columns().size()));
}

std::string PackSum::save() const {
  return booster_ ? fmt::format("{}{}\n", kMagic, hex64(columns_hash())) + booster_->save() : "";
}

void PackSum::load(std::string_view saved) {
  const std::string head = fmt::format("{}{}\n", kMagic, hex64(columns_hash()));
  if (saved.substr(0, kMagic.size()) != kMagic) throw UserError("this is no model that xgboost has saved");
  if (saved.substr(0, head.size()) != head) {
    throw UserError("the model was trained on other columns of features, by another version of Tunesmith",
                    "train it again");
  }
  try {
    Booster(saved.substr(head.size()), parameters());
  } catch (const std::runtime_error& error) {
    throw UserError(fmt::format("the model is damaged: {}", error.what()), "train it again");
  }
  loaded_ = saved.substr(head.size());
  learnt_ = learnt_anew_ = 0;
  forget();
}

}  // namespace tunesmith::xgboost
