#include "pack_sum.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/support/error.h>

#include "inputs.h"
#include "saved_trees.h"

namespace tunesmith::xgboost {
namespace {

// Followed by the number of inputs, their names, one per line, and the trees.
constexpr std::string_view kMagic = "tunesmith pack sum 4 ";

/// Trees trained on other columns cannot be used.
[[noreturn]] void refuse_columns(const std::string& why) {
  throw UserError(fmt::format("the model was trained on other columns of features: {}", why),
                  "retrain it in a space with the same extensions");
}

/// `theirs`: the columns of the loaded model.
void check_same(const std::vector<std::string>& theirs, const std::vector<std::string>& ours) {
  const auto lacks = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) == names.end();
  };
  for (const std::string& name : theirs) {
    if (lacks(ours, name)) refuse_columns(fmt::format("it reads '{}', which this space does not have", name));
  }
  for (const std::string& name : ours) {
    if (lacks(theirs, name))
      refuse_columns(fmt::format("it knows nothing of '{}', which this space has", name));
  }
  if (theirs != ours) refuse_columns("they stand in another order");
}

/// Returns the logarithm of a program's time, and replaces each row's logarithm by the row's share of that
/// time.
double sum_of(std::span<double> logarithms) {
  const double most = *std::ranges::max_element(logarithms);
  double sum = 0.0;
  for (double& value : logarithms) sum += value = std::exp(value - most);
  for (double& value : logarithms) value /= sum;
  return most + std::log(sum);
}

}  // namespace

/// Programs with their measurements, as one matrix.
class PackSum::Batch {
 public:
  Batch(std::span<const Sample> samples, size_t columns, const analytical::Machine& machine,
        const Settings& settings)
      : samples_(samples.begin(), samples.end()),
        inputs_(inputs_of(samples, columns, machine)),
        matrix_(inputs_.values, columns, settings.threads) {
    inputs_.values = {};  // the matrix has its own
    struct Task {
      double least = std::numeric_limits<double>::infinity();
      double most = 0.0;
    };
    std::map<size_t, Task> tasks;
    for (const Sample& sample : samples_) {
      if (!std::isfinite(sample.seconds)) continue;
      Task& task = tasks[sample.task];
      task.least = std::min(task.least, sample.seconds);
      task.most = std::max(task.most, sample.seconds);
    }
    for (const Sample& sample : samples_) {
      const Task& task = tasks[sample.task];
      // A failure counts as slow as the slowest. If all failed there is nothing to learn.
      const double seconds = std::min(sample.seconds, task.most);
      targets_.push_back(seconds > 0.0 ? std::log(seconds) : 0.0);
      weights_.push_back(seconds > 0.0 ? std::max(std::pow(task.least / seconds, settings.weight_power),
                                                  settings.least_weight)
                                       : 0.0);
    }
  }

  /// Adds a tree. A program's error is distributed over its rows by their shares of its time.
  void grow(Booster& booster) const {
    std::vector<double> shares;
    const std::vector<double> errors = errors_of(booster, shares);
    std::vector<float> gradients;
    std::vector<float> hessians;
    size_t row = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      for (size_t end = row + samples_[i].rows->rows(); row < end; ++row) {
        gradients.push_back(static_cast<float>(weights_[i] * errors[i] * shares[row]));
        hessians.push_back(static_cast<float>(weights_[i] * shares[row]));
      }
    }
    booster.grow(matrix_, gradients, hessians);
  }

  double loss(const Booster& booster) const {
    std::vector<double> shares;
    const std::vector<double> errors = errors_of(booster, shares);
    double loss = 0.0;
    for (size_t i = 0; i < samples_.size(); ++i) loss += weights_[i] * errors[i] * errors[i];
    return loss;
  }

 private:
  /// Errors of log times, without the mean error of each task.
  std::vector<double> errors_of(const Booster& booster, std::vector<double>& shares) const {
    const std::vector<float> corrections = booster.values(matrix_);
    shares.resize(corrections.size());
    for (size_t row = 0; row < corrections.size(); ++row) shares[row] = inputs_.base[row] + corrections[row];
    std::vector<double> errors;
    struct Sum {
      double weights = 0.0;
      double errors = 0.0;
    };
    std::map<size_t, Sum> sums;
    size_t row = 0;
    for (size_t i = 0; i < samples_.size(); ++i) {
      const size_t rows = samples_[i].rows->rows();
      errors.push_back(rows == 0 ? 0.0 : sum_of(std::span(shares).subspan(row, rows)) - targets_[i]);
      row += rows;
      Sum& sum = sums[samples_[i].task];
      sum.weights += weights_[i];
      sum.errors += weights_[i] * errors.back();
    }
    for (size_t i = 0; i < samples_.size(); ++i) {
      const Sum& sum = sums[samples_[i].task];
      if (sum.weights > 0.0) errors[i] -= sum.errors / sum.weights;
    }
    return errors;
  }

  std::vector<Sample> samples_;
  std::vector<double> targets_;
  std::vector<double> weights_;
  Inputs inputs_;
  Matrix matrix_;
};

PackSum::PackSum(const Settings& settings) : settings_(settings), inputs_(input_names(feature_columns())) {}

void PackSum::use_columns(std::span<const FeatureColumn> columns) {
  inputs_ = input_names(columns);
  told_ = true;
}

Parameters PackSum::parameters() const {
  return {{"tree_method", "hist"},
          {"base_score", "0"},
          {"num_feature", fmt::format("{}", inputs_.size())},
          {"verbosity", "0"},
          {"max_depth", fmt::format("{}", settings_.max_depth)},
          {"eta", fmt::format("{}", settings_.eta)},
          {"lambda", fmt::format("{}", settings_.lambda)},
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

void PackSum::grow(std::span<const Sample> samples, std::span<const Sample> test, int trees) {
  if (samples.empty()) return;
  const Batch data(samples, inputs_.size(), machine_, settings_);
  constexpr size_t kMinTested = 8;  // minimum number of programs for early stopping
  std::optional<Batch> stop;
  if (test.size() >= kMinTested) stop.emplace(test, inputs_.size(), machine_, settings_);
  if (!booster_) booster_.emplace(parameters());
  int best = booster_->trees();
  const int end = best + trees;
  double least = stop && best > 0 ? stop->loss(*booster_) : std::numeric_limits<double>::infinity();
  for (int grown = best; grown < end && grown - best < (stop ? settings_.early_stopping : trees);) {
    data.grow(*booster_);
    ++grown;
    if (!stop) {
      best = grown;
      continue;
    }
    const double loss = stop->loss(*booster_);
    if (loss >= least) continue;
    least = loss;
    best = grown;
  }
  if (best > 0 && best < booster_->trees()) booster_.emplace(Booster(*booster_, best, parameters()));
}

std::vector<double> PackSum::predict(std::span<const FeatureRows* const> programs) const {
  std::vector<Sample> samples;
  for (const FeatureRows* rows : programs) samples.push_back({rows});
  const Inputs inputs = inputs_of(samples, inputs_.size(), machine_);
  std::vector<double> logarithms = inputs.base;
  if (booster_ && !logarithms.empty()) {
    const std::vector<float> corrections = booster_->values(inputs.values, inputs_.size());
    for (size_t row = 0; row < logarithms.size(); ++row) logarithms[row] += corrections[row];
  }
  std::vector<double> scores;
  size_t row = 0;
  for (const FeatureRows* rows : programs) {
    const size_t count = rows->rows();
    scores.push_back(count == 0 ? 0.0 : -sum_of(std::span(logarithms).subspan(row, count)));
    row += count;
  }
  return scores;
}

std::vector<FeatureImportance> PackSum::importance() const {
  if (!booster_) return {};
  std::vector<FeatureImportance> importance;
  double sum = 0.0;
  for (const auto& [column, gain] : booster_->gains()) {
    importance.push_back({inputs_[column], gain});
    sum += gain;
  }
  for (FeatureImportance& one : importance) one.share /= sum;
  std::ranges::stable_sort(importance, std::ranges::greater(), &FeatureImportance::share);
  return importance;
}

std::string PackSum::save() const {
  if (!booster_) return "";
  return fmt::format("{}{}\n{}\n", kMagic, inputs_.size(), fmt::join(inputs_, "\n")) + booster_->save();
}

void PackSum::load(std::string_view saved) {
  constexpr std::string_view kKind = "tunesmith pack sum ";
  if (!saved.starts_with(kKind)) throw UserError("not a model saved by xgboost");
  if (!saved.starts_with(kMagic))
    throw UserError("the model was saved by another version of Tunesmith", "retrain it");
  const auto next_line = [&] {
    const size_t end = saved.find('\n');
    if (end == std::string_view::npos) throw UserError("the model is truncated", "retrain it");
    const std::string_view line = saved.substr(0, end);
    saved.remove_prefix(end + 1);
    return line;
  };
  const std::string_view count = next_line().substr(kMagic.size());
  size_t names = 0;
  if (std::from_chars(count.data(), count.data() + count.size(), names).ec != std::errc())
    throw UserError("the model is damaged: it has no number of columns", "retrain it");
  std::vector<std::string> theirs;
  for (size_t i = 0; i < names; ++i) theirs.emplace_back(next_line());
  if (told_) {
    check_same(theirs, inputs_);
  } else {
    inputs_ = std::move(theirs);
  }
  try {
    std::string trees = checked_trees(saved, inputs_.size());
    const Booster tried(trees, parameters());
    loaded_ = std::move(trees);
  } catch (const std::runtime_error& error) {
    throw UserError(fmt::format("the model is damaged: {}", error.what()), "retrain it");
  }
  forget();
}

}  // namespace tunesmith::xgboost
