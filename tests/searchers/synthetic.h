// A space of two sketches with a defined time for every point, so that the fastest is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

#include <gtest/gtest.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/encoding.h>
#include <tunesmith/search/searcher.h>

#include "unit/primitives/programs.h"

namespace tunesmith::test {

/// The decisions of a candidate, one list for each sampling instruction.
inline std::vector<Decision> decisions_of(const Candidate& candidate) {
  std::vector<Decision> decisions;
  for (const SamplingPoint& point : candidate.points)
    decisions.push_back(*candidate.trace[point.position].decision);
  return decisions;
}

/// The first has two tiles of 64 in three factors and a category: 28 * 28 * 4 points. The second has a tile
/// in two factors and an ordered category: 7 * 3 points.
inline std::vector<Schedule> two_sketches(const Program& program) {
  std::vector<Schedule> sketches;
  Schedule wide(program, RandomStream(1));
  const std::vector<LoopRV> loops = wide.get_loops(wide.get_block("C"));
  wide.sample_perfect_tile(loops[0], 3, 64);
  wide.sample_perfect_tile(loops[1], 3, 64);
  wide.sample_categorical({8, 0, 4, 2}, {0.25, 0.25, 0.25, 0.25});
  sketches.push_back(std::move(wide));
  Schedule narrow(program, RandomStream(2));
  narrow.sample_perfect_tile(narrow.get_loops(narrow.get_block("C"))[2], 2, 64);
  narrow.sample_categorical({1, 2, 3}, {0.5, 0.25, 0.25});
  sketches.push_back(std::move(narrow));
  return sketches;
}

/// The time is 1 at one point of the wide sketch, and rises with the distance from it.
inline double microseconds(const Candidate& candidate) {
  const std::vector<Decision> decisions = decisions_of(candidate);
  if (decisions.size() < 3) return 6.0 + std::log2(static_cast<double>(decisions[0][0]));
  const auto distance = [](const Decision& tile, const Decision& best) {
    double squares = 0.0;
    for (size_t i = 0; i < tile.size(); ++i) {
      const double away = std::log2(static_cast<double>(tile[i]) / static_cast<double>(best[i]));
      squares += away * away;
    }
    return squares;
  };
  const double joint = std::log2(static_cast<double>(decisions[0][2] * decisions[1][2])) - 4.0;
  constexpr double kCategories[] = {0.6, 0.9, 0.0, 0.3};
  return std::exp(0.12 * distance(decisions[0], {4, 8, 2}) + 0.08 * distance(decisions[1], {2, 4, 8}) +
                  0.15 * std::abs(joint) + kCategories[decisions[2][0]]);
}

class SyntheticContext final : public SearchContext {
 public:
  using Time = std::optional<double> (*)(const Candidate&);  // microseconds; nothing: it fails
  using Score = double (*)(const Candidate&);

  explicit SyntheticContext(
      uint64_t seed, Time time = [](const Candidate& c) { return std::optional(microseconds(c)); },
      Score points = [](const Candidate&) { return 0.0; })
      : seed_(seed), time_(time), score_(points), sketches_(two_sketches(program_)) {}

  const Program& program() const override { return program_; }
  const std::vector<Schedule>& sketches() const override { return sketches_; }
  const DeviceModel& device() const override { return device_; }
  const std::shared_ptr<const TensorIntrinsics>& intrinsics() const override { return intrinsics_; }
  RandomStream next_stream() override { return RandomStream(seed_, next_++); }
  Trace draw(RandomStream& random) const override {
    return sketches_[random.below(sketches_.size())].trace().with_open_decisions();
  }
  std::optional<Trace> mutate(const Candidate& candidate, RandomStream& random) const override {
    const SamplingPoint& point = candidate.points[random.below(candidate.points.size())];
    auto decision = point.kind->mutate(point.domain, *candidate.trace[point.position].decision, random);
    if (!decision) return std::nullopt;
    return candidate.trace.with_decision(point.position, *decision);
  }
  std::vector<Trace> neighbours(const Candidate& candidate) const override {
    std::vector<Trace> traces;
    for (const SamplingPoint& point : candidate.points) {
      for (const Decision& decision :
           point.kind->enumerate(point.domain, *candidate.trace[point.position].decision))
        traces.push_back(candidate.trace.with_decision(point.position, decision));
    }
    return traces;
  }
  std::vector<CandidatePtr> materialise(std::span<const Draft> drafts) override {
    std::vector<CandidatePtr> candidates;
    drafts_ += drafts.size();
    for (const Draft& draft : drafts) {
      const auto schedule = replay(program_, draft.trace, draft.random);
      if (!schedule) {
        candidates.push_back(nullptr);
        continue;
      }
      auto candidate = std::make_shared<Candidate>();
      candidate->trace = schedule->trace();
      candidate->points = schedule->sampling_points();
      candidate->lowered_hash = candidate->trace.hash();
      candidates.push_back(candidate);
    }
    return candidates;
  }
  bool is_measured(uint64_t lowered_hash) const override { return measured_.contains(lowered_hash); }
  std::vector<double> score(std::span<const CandidatePtr> candidates) override {
    std::vector<double> scores;
    for (const CandidatePtr& candidate : candidates) scores.push_back(score_(*candidate));
    return scores;
  }
  const MeasuredHistory& history() const override { return history_; }
  std::span<const Trace> seeds() override { return seeds_; }
  std::shared_ptr<Searcher> create_searcher(const std::string& id) const override {
    PluginRegistry registry;
    return registry.create<Searcher>(id,
                                     Options::defaults(registry.option_specs(PluginKind::Searcher, id), id));
  }

  void set_sketches(std::vector<Schedule> sketches) { sketches_ = std::move(sketches); }
  void set_seeds(std::vector<Trace> seeds) { seeds_ = std::move(seeds); }
  void say(const std::string& sentence) override { said_.push_back(sentence); }
  const std::vector<std::string>& said() const { return said_; }

  /// Measures proposals like the kernel, whose random streams depend on the number of measured programs.
  std::vector<CandidatePtr> round(Searcher& searcher, size_t n) {
    begin_round();
    const std::vector<CandidatePtr> proposed = searcher.propose(*this, n);
    std::vector<Measured> results;
    for (const CandidatePtr& candidate : proposed) {
      EXPECT_TRUE(measured_.insert(candidate->lowered_hash).second) << "measured before";
      const std::optional<double> time = time_(*candidate);
      Measured measured{candidate, std::nullopt, std::nullopt};
      if (time) {
        measured.timing = make_timing({1e-6 * *time});
        best_ = std::min(best_, *time);
      } else {
        measured.failure = CandidateFailure{FailureCause::Crash, "made up"};
      }
      results.push_back(std::move(measured));
    }
    for (const Measured& result : results) history_.add(result);
    searcher.observe(*this, results);
    return proposed;
  }
  void begin_round() { next_ = static_cast<uint64_t>(history_.size()) << 28; }
  double best() const { return best_; }
  /// The number of drafts materialised so far.
  size_t drafts() const { return drafts_; }

 private:
  uint64_t seed_;
  Time time_;
  Score score_;
  Program program_ = make_gmm(64, 64, 64);
  std::vector<Schedule> sketches_;
  std::vector<Trace> seeds_;
  DeviceModel device_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;  // none
  std::vector<std::string> said_;
  uint64_t next_ = 0;
  size_t drafts_ = 0;
  MeasuredHistory history_;
  std::unordered_set<uint64_t> measured_;
  double best_ = std::numeric_limits<double>::infinity();
};

/// An option as in spaces.yaml: a list if there are several values.
inline RawOption option(const std::string& name, const std::vector<std::string>& values) {
  RawOption written;
  written.name = name;
  if (values.size() > 1) written.shape = RawOption::Shape::List;
  for (const std::string& value : values) {
    RawScalar scalar;
    scalar.text = value;
    written.values.push_back(scalar);
  }
  return written;
}

inline std::shared_ptr<Searcher> make_searcher(PluginRegistry& registry, const std::string& id,
                                               const std::vector<RawOption>& options = {}) {
  return registry.create<Searcher>(
      id, Options::validate(registry.option_specs(PluginKind::Searcher, id), options, "searcher"));
}

/// The number of measurements until a program is at most 5 % slower than the fastest; `most` if none is.
inline size_t trials_to_optimum(SyntheticContext& context, Searcher& searcher, size_t batch, size_t most) {
  while (context.history().size() < most && context.best() > 1.05) {
    if (context.round(searcher, batch).empty()) break;
  }
  return context.best() <= 1.05 ? context.history().size() : most;
}

}  // namespace tunesmith::test
