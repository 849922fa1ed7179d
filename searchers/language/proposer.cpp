#include "proposer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/proposals/decide.h>
#include <tunesmith/search/encoding.h>
#include <tunesmith/support/error.h>

namespace tunesmith::language {

Proposer::Proposer(SearchContext& context, std::shared_ptr<const Prior> prior, std::string prior_name)
    : program_(context.program()),
      intrinsics_(context.intrinsics()),
      task_(describe_task(context.program(), context.device())),
      reader_(task_),
      prior_(std::move(prior)),
      prior_name_(std::move(prior_name)) {
  std::vector<Trace> traces;
  for (const Schedule& sketch : context.sketches()) traces.push_back(sketch.trace().with_open_decisions());
  features_ = reader_.sketches(traces);
  for (Trace& trace : traces) sketches_.push_back({trace, sketch_key(trace)});
  find_other_decisions(context);
  ask_prior(context);
}

void Proposer::find_other_decisions(SearchContext& context) {
  for (size_t i = 0; i < sketches_.size(); ++i) {
    try {
      const Schedule& sketch = context.sketches()[i];
      steps_of(sketch.sampling_points(), sketch.trace());
    } catch (const UserError& error) {
      sketches_[i].is_sequence = false;
      context.say(fmt::format("language: {}: such sketches are drawn as the space draws them", error.what()));
    }
  }
}

void Proposer::ask_prior(SearchContext& context) {
  if (!prior_) return;
  const std::string machine = machine_text(task_.machine);
  if (!prior_->source.machines.contains(machine)) {
    context.say(fmt::format(
        "language: the prior {} has learned of machines with {}, and this one has {}: programs are "
        "drawn as the space draws them",
        prior_name_, fmt::join(prior_->source.machines, "; "), machine));
    prior_ = nullptr;
    return;
  }
  for (Sketch& sketch : sketches_) sketch.prior_knows = prior_->knows(sketch.trace);
  const auto known = std::ranges::count(sketches_, true, &Sketch::prior_knows);
  if (known == std::ssize(sketches_)) return;
  context.say(
      fmt::format("language: the prior {}, of the space '{}', has met {} of the {} sketches of this "
                  "task: of the others programs are drawn as the space draws them",
                  prior_name_, prior_->source.space, known, sketches_.size()));
}

std::optional<ChosenProgram> Proposer::chosen(const Candidate& candidate) const {
  const auto sketch = std::ranges::find(sketches_, sketch_key(candidate.trace), &Sketch::key);
  if (sketch == sketches_.end() || !sketch->is_sequence) return std::nullopt;
  const auto place = static_cast<size_t>(sketch - sketches_.begin());
  return chosen_program(
      features_[place], reader_, sketch->trace,
      steps_of(std::span(candidate.points.begin(), candidate.points.end()), candidate.trace));
}

std::optional<Trace> Proposer::draw(const EliteClassifier& classifier, double temperature,
                                    RandomStream& random) const {
  bool by_prior = prior_ != nullptr;
  const auto logits = [&](std::span<const ChoiceFeatures> choices) {
    std::vector<double> sums = classifier.log_odds(choices);
    if (!by_prior) return sums;
    const std::vector<double> likely = prior_->logits(choices);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += likely[i];
    return sums;
  };
  const Sketch& sketch = sketches_[draw_choice(logits(features_), temperature, random)];
  by_prior = by_prior && sketch.prior_knows;
  if (!sketch.is_sequence || (!by_prior && !classifier.has_learned())) return std::nullopt;
  const auto decided = decide_by(logits, reader_, program_, sketch.trace, intrinsics_, temperature, random);
  return decided ? std::optional(*decided) : std::nullopt;
}

}  // namespace tunesmith::language
