// A prior over decisions: the probability of each choice in a fast program, learned from programs of other
// tasks (docs/proposals.md).
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

/// A hash of the kinds of its instructions, independent of their arguments: sketches of one rule of a module
/// have one name.
uint64_t sketch_name(const Trace& sketch);
/// "512 bits of vectors, 2 cores": a prior does not distinguish machines with equal texts.
std::string machine_text(const std::map<std::string, double>& quantities);

/// The features of a choice: numbers, and hashes that identify it in several contexts.
struct ChoiceFeatures {
  std::array<float, kPriorNumbers> numbers{};
  std::array<uint32_t, kPriorNames> names{};
};

/// Computes the features of one task's steps, in their order. They are independent of the names of blocks and
/// arrays.
class StepReader {
 public:
  explicit StepReader(const SequenceTask& task);

  /// The features of the choice among sketches, which comes first.
  std::vector<ChoiceFeatures> sketches(std::span<const Trace> sketches) const;
  /// Begins the steps of this sketch, which must live until the next begin().
  void begin(const Trace& sketch);
  std::vector<ChoiceFeatures> choices(const SequenceStep& step) const;
  /// Advances past the step, with its choice.
  void chose(const SequenceStep& step);

 private:
  uint64_t task_name_ = 0;
  std::array<float, 6> of_task_{};
  const Trace* sketch_ = nullptr;
  uint64_t sketch_name_ = 0;
  size_t instruction_ = 0;         // of the last step
  size_t steps_ = 0;               // number of that instruction's steps so far
  std::array<float, 4> levels_{};  // logarithms of the factors of earlier tiles, from the innermost on
};

/// The training data of a prior.
struct PriorSource {
  std::string space;
  std::set<std::string> machines;  // machine_text()
  int64_t tasks = 0;
  int64_t programs = 0;
  uint64_t seed = 0;
};

/// A neural network with one hidden layer. Immutable after training; any thread may read it.
class Prior {
 public:
  /// Throws UserError if the bytes are not a prior of this version.
  static Prior load(std::string_view bytes, const std::string& file);
  std::string save() const;

  PriorSource source;

  /// Did a training task have a sketch of this sketch_name()?
  bool knows(const Trace& sketch) const { return sketches_.contains(sketch_name(sketch)); }
  /// One logit for each choice.
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

/// Prior::logits(), or another source of logits.
using ChoiceLogits = std::function<std::vector<double>(std::span<const ChoiceFeatures>)>;

/// Draws a choice from the softmax of logits / temperature.
size_t draw_choice(std::span<const double> logits, double temperature, RandomStream& random);

/// The programs of a task to learn from.
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

/// Maximises the likelihood of the choices in the examples, with the same weight for each task.
/// Deterministic.
Prior train_prior(std::span<const PriorExample> examples, const PriorTraining& training, PriorSource source);

/// For each program of the example, the log-likelihood of all its choices together.
std::vector<double> log_likelihoods(const Prior& prior, const PriorExample& example);

/// The mean log-likelihood of a step with more than one choice.
double mean_log_likelihood(const Prior& prior, std::span<const PriorExample> examples);

}  // namespace tunesmith
