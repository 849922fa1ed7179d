// What tells the best programs of one task from the rest, learned from those that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/proposals/prior.h"

namespace tunesmith {

/// A program by what it chose where there was a choice, and what the cost model says of it.
struct ChosenProgram {
  std::vector<uint32_t> names;  // ChoiceFeatures::names of all that was chosen
  double score = 0.0;
  std::optional<double> seconds;  // nothing: it failed, or is not measured
};

/// Adds what was chosen. `sketches`: what StepReader::sketches() says of this one; steps as it reads them.
ChosenProgram chosen_program(const ChoiceFeatures& sketch, StepReader reader, const Trace& trace,
                             std::span<const SequenceStep> steps);

/// Is a program among the best tenth? Logistic regression over the names and the cost model's score, whose
/// log-odds are sums over what was chosen: they say of each choice alone what it is worth. Immutable.
class EliteClassifier {
 public:
  /// Fewer programs than this teach nothing.
  static constexpr size_t kMinPrograms = 16;

  /// Of no program: the score alone.
  EliteClassifier() = default;
  /// The same for the same programs in the same order.
  explicit EliteClassifier(std::span<const ChosenProgram> programs);

  bool has_learned() const { return learned_; }
  double log_odds(const ChosenProgram& program) const;
  /// Of each choice, what it adds to the log-odds.
  std::vector<double> log_odds(std::span<const ChoiceFeatures> choices) const;

 private:
  static constexpr size_t kBuckets = 4096;

  double weight(std::span<const uint32_t> names) const;
  double standardised(double score) const { return (score - mean_) / deviation_; }

  bool learned_ = false;
  std::vector<double> weights_ = std::vector<double>(kBuckets);
  double of_score_ = 1.0;  // until something is learned the cost model is believed
  double bias_ = 0.0;
  double mean_ = 0.0;  // of the scores that it learned from
  double deviation_ = 1.0;
};

}  // namespace tunesmith
