#include "tunesmith/proposals/elite_classifier.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tunesmith {
namespace {

constexpr double kEliteShare = 0.1;
constexpr int kEpochs = 200;
constexpr double kLearningRate = 0.3;
/// Weight decay towards the initial values: names that few programs have keep small weights.
constexpr double kDecay = 0.02;

/// 1 for the fastest tenth, at least two programs.
std::vector<double> elite_labels(std::span<const ChosenProgram> programs) {
  std::vector<double> seconds;
  for (const ChosenProgram& program : programs)
    seconds.push_back(program.seconds.value_or(std::numeric_limits<double>::infinity()));
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const auto best = static_cast<size_t>(std::ceil(kEliteShare * static_cast<double>(seconds.size())));
  const double limit = sorted.at(std::max<size_t>(best, 2) - 1);
  std::vector<double> labels;
  for (const double one : seconds) labels.push_back(std::isfinite(one) && one <= limit ? 1.0 : 0.0);
  return labels;
}

}  // namespace

ChosenProgram chosen_program(const ChoiceFeatures& sketch, StepReader reader, const Trace& trace,
                             std::span<const SequenceStep> steps) {
  ChosenProgram program;
  const auto add = [&](const ChoiceFeatures& choice) {
    program.names.insert(program.names.end(), choice.names.begin(), choice.names.end());
  };
  add(sketch);
  reader.begin(trace);
  for (const SequenceStep& step : steps) {
    if (step.choices.size() > 1) {
      const auto chosen = std::ranges::find(step.choices, step.chosen) - step.choices.begin();
      add(reader.choices(step).at(static_cast<size_t>(chosen)));
    }
    reader.chose(step);
  }
  return program;
}

EliteClassifier::EliteClassifier(std::span<const ChosenProgram> programs) {
  const std::vector<double> labels =
      programs.size() < kMinPrograms ? std::vector<double>() : elite_labels(programs);
  const auto best = static_cast<double>(std::ranges::count(labels, 1.0));
  const auto rest = static_cast<double>(labels.size()) - best;
  if (best == 0.0 || rest == 0.0) return;  // there is only one class
  learned_ = true;
  const auto count = static_cast<double>(programs.size());
  for (const ChosenProgram& program : programs) mean_ += program.score / count;
  double squares = 0.0;
  for (const ChosenProgram& program : programs) squares += std::pow(program.score - mean_, 2) / count;
  if (squares > 0.0) deviation_ = std::sqrt(squares);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (size_t i = 0; i < programs.size(); ++i) {
      const ChosenProgram& program = programs[i];
      // Both classes have the same total weight.
      const double weight = labels[i] == 1.0 ? 0.5 / best : 0.5 / rest;
      const double error = labels[i] - 1.0 / (1.0 + std::exp(-log_odds(program)));
      const double step = kLearningRate * weight * error;
      const double each = step / std::sqrt(static_cast<double>(program.names.size()));
      for (const uint32_t name : program.names) weights_[name % kBuckets] += each;
      of_score_ += step * standardised(program.score);
      bias_ += step;
    }
    for (double& one : weights_) one -= kLearningRate * kDecay * one;
    of_score_ -= kLearningRate * kDecay * (of_score_ - 1.0);
  }
}

double EliteClassifier::weight(std::span<const uint32_t> names) const {
  double sum = 0.0;
  for (const uint32_t name : names) sum += weights_[name % kBuckets];
  return sum;
}

double EliteClassifier::log_odds(const ChosenProgram& program) const {
  return bias_ + of_score_ * standardised(program.score) + weight(program.names);
}

std::vector<double> EliteClassifier::log_odds(std::span<const ChoiceFeatures> choices) const {
  std::vector<double> each;
  for (const ChoiceFeatures& choice : choices) each.push_back(weight(choice.names));
  return each;
}

}  // namespace tunesmith
