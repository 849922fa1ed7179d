#include <algorithm>
#include <cmath>

#include "tunesmith/proposals/prior.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// A step with more than one choice.
struct Asked {
  std::vector<ChoiceFeatures> choices;
  size_t chosen = 0;
  float weight = 1.0F;
};

size_t place_of_chosen(const SequenceStep& step) {
  const auto found = std::ranges::find(step.choices, step.chosen);
  check_invariant(found != step.choices.end(), "what is chosen is a choice");
  return static_cast<size_t>(found - step.choices.begin());
}

/// Adds the steps of one program, beginning with the choice of its sketch.
void add_steps(const PriorExample& example, const PriorExample::Program& program, StepReader& reader,
               float weight, std::vector<Asked>& asked) {
  if (example.sketches.size() > 1)
    asked.push_back({reader.sketches(example.sketches), program.sketch, weight});
  reader.begin(example.sketches.at(program.sketch));
  for (const SequenceStep& step : program.steps) {
    if (step.choices.size() > 1) asked.push_back({reader.choices(step), place_of_chosen(step), weight});
    reader.chose(step);
  }
}

std::vector<Asked> asked_of(std::span<const PriorExample> examples) {
  std::vector<Asked> asked;
  for (const PriorExample& example : examples) {
    StepReader reader(example.task);
    const float weight = 1.0F / static_cast<float>(std::max<size_t>(1, example.programs.size()));
    for (const PriorExample::Program& program : example.programs)
      add_steps(example, program, reader, weight, asked);
  }
  return asked;
}

std::vector<double> likelihoods(std::vector<double> logits) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (double& logit : logits) sum += logit = std::exp(logit - most);
  for (double& logit : logits) logit /= sum;
  return logits;
}

double log_likelihood(const Prior& prior, const Asked& step) {
  return std::log(std::max(1e-12, likelihoods(prior.logits(step.choices))[step.chosen]));
}

}  // namespace

/// Stochastic gradient descent with a decreasing rate per weight (Adagrad).
class PriorTrainer {
 public:
  PriorTrainer(Prior& prior, const PriorTraining& training)
      : prior_(prior), rate_(static_cast<float>(training.rate)), random_(training.seed) {
    for (Prior::Row& row : prior_.numbers_) start(row, 0.1);
    start(prior_.out_, 0.3);
  }

  void meet(std::span<const PriorExample> examples) {
    for (const PriorExample& example : examples) {
      for (const Trace& sketch : example.sketches) prior_.sketches_.insert(sketch_name(sketch));
    }
  }

  void train(std::vector<Asked>& asked, int epochs) {
    std::vector<size_t> order(asked.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      random_.shuffle(order);
      for (const size_t i : order) learn(asked[i]);
    }
  }

 private:
  using Row = Prior::Row;
  void start(Row& row, double size) {
    for (float& number : row) number = static_cast<float>(size * random_.normal());
  }

  void move(Row& row, Row& moved, const Row& gradient) const {
    for (size_t h = 0; h < Prior::kHidden; ++h) {
      moved[h] += gradient[h] * gradient[h];
      if (gradient[h] != 0.0F) row[h] -= rate_ * gradient[h] / std::sqrt(moved[h] + 1e-6F);
    }
  }

  void learn(const Asked& step) {
    const std::vector<double> likely = likelihoods(prior_.logits(step.choices));
    for (size_t i = 0; i < step.choices.size(); ++i) {
      const ChoiceFeatures& choice = step.choices[i];
      const auto error = static_cast<float>(likely[i] - (i == step.chosen ? 1.0 : 0.0)) * step.weight;
      if (std::abs(error) < 1e-6F) continue;
      const Row sum = prior_.hidden(choice);
      Row inside{};
      Row outside{};
      for (size_t h = 0; h < Prior::kHidden; ++h) {
        if (sum[h] <= 0.0F) continue;
        inside[h] = error * prior_.out_[h];
        outside[h] = error * sum[h];
      }
      for (size_t n = 0; n < kPriorNumbers; ++n) {
        Row gradient = inside;
        for (float& number : gradient) number *= choice.numbers[n];
        move(prior_.numbers_[n], numbers_[n], gradient);
      }
      for (const uint32_t name : choice.names)
        move(prior_.names_[name % Prior::kBuckets], names_[name % Prior::kBuckets], inside);
      move(prior_.bias_, bias_, inside);
      move(prior_.out_, out_, outside);
    }
  }

  Prior& prior_;
  const float rate_;
  RandomStream random_;
  // Adagrad's state: for each weight the sum of its squared gradients.
  std::vector<Row> numbers_ = std::vector<Row>(kPriorNumbers);
  std::vector<Row> names_ = std::vector<Row>(Prior::kBuckets);
  Row bias_{};
  Row out_{};
};

Prior train_prior(std::span<const PriorExample> examples, const PriorTraining& training, PriorSource source) {
  Prior prior;
  prior.source = std::move(source);
  std::vector<Asked> asked = asked_of(examples);
  PriorTrainer trainer(prior, training);
  trainer.meet(examples);
  trainer.train(asked, training.epochs);
  return prior;
}

std::vector<double> log_likelihoods(const Prior& prior, const PriorExample& example) {
  std::vector<double> each;
  StepReader reader(example.task);
  for (const PriorExample::Program& program : example.programs) {
    std::vector<Asked> asked;
    add_steps(example, program, reader, 1.0F, asked);
    double& sum = each.emplace_back();
    for (const Asked& step : asked) sum += log_likelihood(prior, step);
  }
  return each;
}

double mean_log_likelihood(const Prior& prior, std::span<const PriorExample> examples) {
  double sum = 0.0;
  double weights = 0.0;
  for (const Asked& step : asked_of(examples)) {
    sum += step.weight * log_likelihood(prior, step);
    weights += step.weight;
  }
  return weights > 0.0 ? sum / weights : 0.0;
}

}  // namespace tunesmith
