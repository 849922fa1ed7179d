#include "report/importance.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <tunesmith/search/encoding.h>
#include <tunesmith/support/random.h>

#include "report/decision_names.h"

namespace tunesmith::report {
namespace {

constexpr int kShuffles = 100;
constexpr double kChanceQuantile = 0.95;

/// The share of variance that random groups would explain.
double explained_by_chance(std::vector<double> values, std::span<const size_t> groups, size_t count) {
  std::vector<double> explained;
  for (int i = 0; i < kShuffles; ++i) {
    RandomStream random(0, static_cast<uint64_t>(i));
    random.shuffle(values);
    explained.push_back(explained_variance(values, groups, count));
  }
  const auto place = explained.begin() + static_cast<std::ptrdiff_t>(kChanceQuantile * kShuffles);
  std::ranges::nth_element(explained, place);
  return *place;
}

DecisionEffect effect_of(const DecidedNumber& number, std::span<const TimedTrace* const> programs,
                         const std::vector<double>& logarithms) {
  std::map<int64_t, size_t> values;  // values to group numbers
  for (const TimedTrace* program : programs) values.emplace(value_of(program->trace, number), 0);
  size_t count = 0;
  for (auto& [value, group] : values) group = count++;
  DecisionEffect effect{number.name, 0.0, 0.0, std::vector<ValueEffect>(count)};
  std::vector<size_t> groups;
  for (size_t i = 0; i < programs.size(); ++i) {
    groups.push_back(values.at(value_of(programs[i]->trace, number)));
    ValueEffect& value = effect.values[groups.back()];
    if (value.programs++ == 0) value.value = value_text(programs[i]->trace, number);
    value.seconds += logarithms[i];
  }
  for (ValueEffect& value : effect.values)
    value.seconds = std::exp(value.seconds / static_cast<double>(value.programs));
  std::ranges::stable_sort(effect.values, {}, &ValueEffect::seconds);
  if (count < 2) return effect;
  effect.explained = explained_variance(logarithms, groups, count);
  effect.chance = explained_by_chance(logarithms, groups, count);
  return effect;
}

SketchEffects effects_of(uint64_t sketch, std::span<const TimedTrace* const> programs) {
  SketchEffects effects{sketch, programs.size(), 0.0, {}};
  std::vector<double> logarithms;
  for (const TimedTrace* program : programs) logarithms.push_back(std::log(program->seconds));
  effects.seconds = std::exp(std::ranges::min(logarithms));
  for (const DecidedNumber& number : decided_numbers(programs.front()->trace)) {
    DecisionEffect effect = effect_of(number, programs, logarithms);
    if (effect.values.size() > 1) effects.decisions.push_back(std::move(effect));
  }
  std::ranges::stable_sort(effects.decisions, std::ranges::greater(), &DecisionEffect::explained);
  return effects;
}

}  // namespace

double explained_variance(std::span<const double> values, std::span<const size_t> groups, size_t count) {
  if (values.size() <= count || count < 2) return 0.0;
  const auto n = static_cast<double>(values.size());
  std::vector<double> sums(count, 0.0);
  std::vector<double> sizes(count, 0.0);
  double sum = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    sums[groups[i]] += values[i];
    sizes[groups[i]] += 1.0;
  }
  double all = 0.0;
  double within = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double from_mean = values[i] - sum / n;
    const double from_group = values[i] - sums[groups[i]] / sizes[groups[i]];
    all += from_mean * from_mean;
    within += from_group * from_group;
  }
  if (all <= 0.0) return 0.0;
  return std::max(0.0, 1.0 - within / (n - static_cast<double>(count)) / (all / (n - 1.0)));
}

std::vector<SketchEffects> importance(std::span<const TimedTrace> programs) {
  std::map<uint64_t, std::vector<const TimedTrace*>> sketches;
  for (const TimedTrace& program : programs) {
    if (!program.trace.sampling().empty()) sketches[sketch_key(program.trace)].push_back(&program);
  }
  std::vector<SketchEffects> all;
  for (const auto& [sketch, its] : sketches) {
    if (its.size() >= kMinPrograms) all.push_back(effects_of(sketch, its));
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &SketchEffects::programs);
  return all;
}

}  // namespace tunesmith::report
