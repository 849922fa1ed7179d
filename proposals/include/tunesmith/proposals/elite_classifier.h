// Classifies the best programs of one task, learned from its measured programs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/proposals/prior.h"

namespace tunesmith {

/// A program's choices among several, and its cost-model score.
struct ChosenProgram {
  std::vector<uint32_t> names;  // ChoiceFeatures::names of all its choices
  double score = 0.0;
  std::optional<double> seconds;  // nothing: failed or not measured
};

/// Collects the choices of a program. `sketch`: its entry of StepReader::sketches(). The score and the time
/// are not set.
ChosenProgram chosen_program(const ChoiceFeatures& sketch, StepReader reader, const Trace& trace,
                             std::span<const SequenceStep> steps);

/// Is a program among the fastest tenth? A logistic regression over the names and the cost model's score. Its
/// log-odds are a sum over the choices, so that each choice has a value of its own. Immutable.
class EliteClassifier {
 public:
  /// It learns nothing from fewer programs.
  static constexpr size_t kMinPrograms = 16;

  /// Without programs: uses only the score.
  EliteClassifier() = default;
  /// Deterministic; depends on the programs and their order.
  explicit EliteClassifier(std::span<const ChosenProgram> programs);

  bool has_learned() const { return learned_; }
  double log_odds(const ChosenProgram& program) const;
  /// The contribution of each choice to the log-odds.
  std::vector<double> log_odds(std::span<const ChoiceFeatures> choices) const;

 private:
  static constexpr size_t kBuckets = 4096;

  double weight(std::span<const uint32_t> names) const;
  double standardised(double score) const { return (score - mean_) / deviation_; }

  bool learned_ = false;
  std::vector<double> weights_ = std::vector<double>(kBuckets);
  double of_score_ = 1.0;  // weight of the score; initially it decides alone
  double bias_ = 0.0;
  double mean_ = 0.0;  // of the training programs' scores
  double deviation_ = 1.0;
};

}  // namespace tunesmith
