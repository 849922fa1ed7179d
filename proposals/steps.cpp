// The legal choices of decisions, step by step.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "tunesmith/proposals/sequence.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The maximum number of listed decisions of an instruction.
constexpr uint64_t kMaxListed = 4096;

bool is_tile(const SamplingDomain& domain) { return domain.parts > 0; }

std::vector<int64_t> rising_divisors(int64_t number) {
  std::vector<int64_t> found;
  for (int64_t divisor = 1; divisor <= number / divisor; ++divisor) {
    if (number % divisor != 0) continue;
    found.push_back(divisor);
    if (divisor != number / divisor) found.push_back(number / divisor);
  }
  std::ranges::sort(found);
  return found;
}

/// The legal choices of a factor, decided from the last to the first: each can be completed to a legal tile.
std::vector<int64_t> factors_of(const SamplingDomain& domain, size_t element,
                                const std::vector<int64_t>& decided) {
  const int64_t inner = std::accumulate(decided.begin(), decided.end(), int64_t{1}, std::multiplies<>());
  const int64_t left = domain.extent / inner;
  if (element == 0) return {left};
  std::vector<int64_t> factors = rising_divisors(left);
  const bool last = element + 1 == static_cast<size_t>(domain.parts);
  std::erase_if(factors, [&](int64_t factor) {
    if (last && domain.max_innermost > 0 && factor > domain.max_innermost) return true;
    return element == static_cast<size_t>(domain.partition) && inner * factor % domain.inner_factor != 0;
  });
  return factors;
}

std::vector<int64_t> listed_choices(const SamplingPoint& point) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("decisions of '{}' {}", point.kind->name(), why),
                    "sequences have tiles, and decisions of one number");
  };
  const uint64_t count = point.kind->count(point.domain);
  if (count > kMaxListed) refuse(fmt::format("are {}, and up to {} can be listed", count, kMaxListed));
  std::vector<int64_t> choices;
  for (uint64_t i = 0; i < count; ++i) {
    const Decision decision = point.kind->at(point.domain, i);
    if (decision.size() != 1) refuse(fmt::format("are {} numbers that are no tile", decision.size()));
    choices.push_back(decision.front());
  }
  return choices;
}

}  // namespace

size_t steps_of(const SamplingDomain& domain) {
  return is_tile(domain) ? static_cast<size_t>(domain.parts) : 1;
}

SequenceStep next_step(const SamplingPoint& point, const std::vector<int64_t>& decided) {
  const size_t steps = steps_of(point.domain);
  check_invariant(decided.size() < steps, "a decision has steps left");
  SequenceStep step;
  step.instruction = point.position;
  step.element = steps - 1 - decided.size();
  if (is_tile(point.domain)) {
    step.choices = factors_of(point.domain, step.element, decided);
    return step;
  }
  step.choices = listed_choices(point);
  const std::vector<int64_t>& candidates = point.domain.candidates;
  if (!point.domain.weights.empty()) {
    for (const int64_t choice : step.choices) step.values.push_back(candidates[static_cast<size_t>(choice)]);
  }
  return step;
}

Decision decision_of(const SamplingDomain& domain, const std::vector<int64_t>& decided) {
  check_invariant(decided.size() == steps_of(domain), "a decision is whole");
  return {decided.rbegin(), decided.rend()};
}

std::vector<SequenceStep> steps_of(std::span<const SamplingPoint> points, const Trace& trace) {
  std::vector<SequenceStep> steps;
  for (const SamplingPoint& point : points) {
    const std::optional<Decision>& decision = trace[point.position].decision;
    check_invariant(decision.has_value(), "what is written as a sequence is decided");
    std::vector<int64_t> decided;
    while (decided.size() < steps_of(point.domain)) {
      SequenceStep step = next_step(point, decided);
      step.chosen = decision->at(step.element);
      if (std::ranges::find(step.choices, step.chosen) == step.choices.end()) {
        throw UserError(fmt::format("instruction {} of the trace, {}, decides {}, which is no choice there",
                                    point.position, point.kind->name(), step.chosen));
      }
      decided.push_back(step.chosen);
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

Sequence make_sequence(const Program& program, const DeviceModel& device, const Schedule& schedule) {
  return {describe_task(program, device), schedule.trace().with_open_decisions(),
          steps_of(schedule.sampling_points(), schedule.trace())};
}

Trace trace_of(const Sequence& sequence) {
  std::map<size_t, std::vector<int64_t>> decided;
  for (const SequenceStep& step : sequence.steps) decided[step.instruction].push_back(step.chosen);
  Trace trace = sequence.sketch;
  for (const size_t position : sequence.sketch.sampling()) {
    const auto steps = decided.extract(position);
    if (steps.empty()) throw UserError(fmt::format("instruction {} of the sketch is not decided", position));
    trace = trace.with_decision(position, {steps.mapped().rbegin(), steps.mapped().rend()});
  }
  if (!decided.empty())
    throw UserError(fmt::format("instruction {} of the sketch decides nothing", decided.begin()->first));
  return trace;
}

}  // namespace tunesmith
