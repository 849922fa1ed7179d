// A prior over decisions: how likely each choice of a step is in a fast program, learned from programs of
// other tasks (docs/proposals.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/proposals/sequence.h"
#include "tunesmith/support/random.h"

namespace tunesmith {

inline constexpr size_t kPriorNumbers = 20;  // of a choice
inline constexpr size_t kPriorNames = 7;     // of a choice, each a hash

/// Of the kinds of its instructions: sketches of one module's rule have one name, whatever their numbers are.
uint64_t sketch_name(const Trace& sketch);
/// "512 bits of vectors, 2 cores": machines that are one to a prior.
std::string machine_text(const std::map<std::string, double>& quantities);

/// A choice as a prior sees it: some numbers, and hashes of what it is.
struct ChoiceFeatures {
  std::array<float, kPriorNumbers> numbers{};
  std::array<uint32_t, kPriorNames> names{};
};

/// Looks at one task's steps in their order. Names of blocks and arrays are no part of what it sees.
class StepReader {
 public:
  explicit StepReader(const SequenceTask& task);

  /// Of the choice among sketches, which comes first.
  std::vector<ChoiceFeatures> sketches(std::span<const Trace> sketches) const;
  /// From here on steps are of this sketch. It must outlive the reader or the next call.
  void begin(const Trace& sketch);
  std::vector<ChoiceFeatures> choices(const SequenceStep& step) const;
  /// What was chosen of the step that was asked for last.
  void chose(const SequenceStep& step);

 private:
  uint64_t task_name_ = 0;
  std::array<float, 6> of_task_{};
  const Trace* sketch_ = nullptr;
  uint64_t sketch_name_ = 0;
  size_t instruction_ = 0;         // of the last step
  size_t steps_ = 0;               // that it had
  std::array<float, 4> levels_{};  // logarithms of the factors of earlier tiles, from the innermost on
};

/// Where what was learned comes from.
struct PriorSource {
  std::string space;
  std::set<std::string> machines;  // machine_text()
  int64_t tasks = 0;
  int64_t programs = 0;
  uint64_t seed = 0;
};

/// A network of one hidden layer. Immutable once it is trained; any thread may read.
class Prior {
 public:
  /// Throws UserError where these are not the bytes of a prior of this version.
  static Prior load(std::string_view bytes, const std::string& file);
  std::string save() const;

  PriorSource source;

  /// Was it among the sketches of the tasks that it learned from?
  bool knows(const Trace& sketch) const { return sketches_.contains(sketch_name(sketch)); }
  /// One number for each choice: the larger, the likelier.
  std::vector<double> logits(std::span<const ChoiceFeatures> choices) const;

 private:
  friend class PriorTrainer;
  static constexpr size_t kHidden = 32;
  static constexpr size_t kBuckets = 8192;
  using Row = std::array<float, kHidden>;

  Row hidden(const ChoiceFeatures& choice) const;

  std::set<uint64_t> sketches_;  // sketch_name()
  std::vector<Row> numbers_ = std::vector<Row>(kPriorNumbers);
  std::vector<Row> names_ = std::vector<Row>(kBuckets);
  Row bias_{};
  Row out_{};
};

/// Prior::logits, or another's.
using ChoiceLogits = std::function<std::vector<double>(std::span<const ChoiceFeatures>)>;

/// Draws a choice; a temperature below 1 takes the likelier ones more often.
size_t draw_choice(std::span<const double> logits, double temperature, RandomStream& random);

/// A task's programs that are worth being learned.
struct PriorExample {
  SequenceTask task;
  std::vector<Trace> sketches;
  struct Program {
    size_t sketch = 0;
    std::vector<SequenceStep> steps;
  };
  std::vector<Program> programs;
};

struct PriorTraining {
  int epochs = 8;
  double rate = 0.05;
  uint64_t seed = 0;
};

/// Of all choices in the examples, by the likelihood of what was chosen; tasks count alike. The same for the
/// same examples and options.
Prior train_prior(std::span<const PriorExample> examples, const PriorTraining& training, PriorSource source);

/// Of each of the example's programs, the logarithm of how likely all its choices are together.
std::vector<double> log_likelihoods(const Prior& prior, const PriorExample& example);

/// The mean logarithm of the likelihood of a step that has more than one choice.
double mean_log_likelihood(const Prior& prior, std::span<const PriorExample> examples);

}  // namespace tunesmith
