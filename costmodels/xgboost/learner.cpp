#include "learner.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <tunesmith/support/random.h>

namespace tunesmith::xgboost {

void Learner::begin(const DeviceModel& device) {
  std::erase_if(programs_, [](const Program& program) { return program.rows.values.empty(); });
  if (!programs_.empty()) earlier_.push_back(std::move(programs_));
  programs_.clear();
  learned_ = learned_anew_ = 0;
  device_ = device;
  trees_.set_machine(device);
}

/// Steps grow with the number of programs, so that learning takes a bounded share of a long run.
size_t Learner::next_step(size_t step) const {
  const auto every = static_cast<size_t>(settings_.learn_every);
  return step + std::max(every, step / 16 / every * every);
}

void Learner::update(std::span<const Measured> results) {
  std::vector<CandidatePtr> candidates;
  for (const Measured& result : results) candidates.push_back(result.candidate);
  const std::vector<const FeatureRows*> rows = features_of(candidates, device_);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::optional<Timing>& timing = results[i].timing;
    programs_.push_back({*rows[i], timing ? timing->min : std::numeric_limits<double>::infinity()});
  }
  // Steps before the last full retraining need not be learned.
  size_t begin = next_step(learned_);
  size_t anew = learned_anew_;
  for (size_t n = begin; n <= programs_.size(); n = next_step(n)) {
    if (anew == 0 || static_cast<double>(n) >= settings_.relearn_growth * static_cast<double>(anew))
      begin = anew = n;
  }
  for (size_t n = begin; n <= programs_.size(); n = next_step(n)) {
    learn_first(n, n == anew);
    learned_ = n;
  }
  learned_anew_ = anew;
  if (learned_ < begin) return;
  const std::vector<bool> chosen = chosen_of_first(learned_);
  for (size_t i = 0; i < learned_; ++i) {
    if (!chosen[i]) programs_[i].rows = {};
  }
}

/// Half are the fastest programs, half are random. A program that is not chosen is not chosen later, either.
std::vector<bool> Learner::chosen_of_first(size_t count) const {
  const auto most = static_cast<size_t>(settings_.most_programs);
  std::vector<bool> chosen(count, count <= most);
  if (count <= most) return chosen;
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return programs_[i].seconds; });
  std::vector<double> lots;
  for (size_t i = 0; i < count; ++i) lots.push_back(RandomStream(settings_.seed, i).uniform());
  const auto slower = order.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::stable_sort(slower, order.end(), [&](size_t a, size_t b) { return lots[a] < lots[b]; });
  for (size_t i = 0; i < most; ++i) chosen[order[i]] = true;
  return chosen;
}

bool Learner::is_held_out(size_t n) const {
  return RandomStream(settings_.seed + 1, n).uniform() < settings_.held_out;
}

void Learner::learn_first(size_t count, bool anew) {
  std::vector<Sample> samples;
  std::vector<Sample> held_out;
  for (size_t task = 0; task < earlier_.size(); ++task) {
    for (const Program& program : earlier_[task]) samples.push_back({&program.rows, program.seconds, task});
  }
  const std::vector<bool> chosen = chosen_of_first(count);
  for (size_t i = 0; i < count; ++i) {
    if (!chosen[i]) continue;
    (is_held_out(i) ? held_out : samples)
        .push_back({&programs_[i].rows, programs_[i].seconds, earlier_.size()});
  }
  if (anew) trees_.forget();
  trees_.grow(samples, held_out, anew ? settings_.trees : settings_.more_trees);
}

std::vector<double> Learner::predict(std::span<const CandidatePtr> candidates) const {
  return trees_.predict(features_of(candidates, device_));
}

}  // namespace tunesmith::xgboost
