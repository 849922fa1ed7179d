#include "tunesmith/tuning/first_program.h"

#include <algorithm>
#include <unordered_set>

#include "tunesmith/proposals/decide.h"
#include "tunesmith/proposals/prior.h"

namespace tunesmith {
namespace {

/// The number of candidates in memory at a time.
constexpr int64_t kChunk = 256;

struct Draw {
  CandidatePtr candidate;
  double score = 0.0;
};

class Drawing {
 public:
  Drawing(const Workload& workload, const Space& space, const DrawOptions& options)
      : workload_(workload),
        space_(space),
        options_(options),
        set_(space.generate(workload.program)),
        reader_(describe_task(workload.program, space.device())) {
    for (const Schedule& sketch : set_.sketches) sketches_.push_back(sketch.trace().with_open_decisions());
    if (options.prior != nullptr) logits_ = options.prior->logits(reader_.sketches(sketches_));
  }

  /// Null if the drawn program is refused.
  CandidatePtr draw(size_t number) const {
    RandomStream random(options_.seed, number);
    constexpr double kTemperatures[] = {0.3, 0.6, 1.0};
    const size_t turn = number % 4;
    if (options_.prior == nullptr || turn == 3)
      return make(sketches_[number / (options_.prior == nullptr ? 1 : 4) % sketches_.size()], random);
    const double temperature = kTemperatures[turn];
    const Trace& sketch = sketches_[draw_choice(logits_, temperature, random)];
    const auto decided =
        decide_by([&](std::span<const ChoiceFeatures> choices) { return options_.prior->logits(choices); },
                  reader_, workload_.program, sketch, space_.intrinsics(), temperature, random);
    return decided ? make(*decided, random) : nullptr;
  }

 private:
  CandidatePtr make(const Trace& trace, RandomStream random) const {
    auto candidate = space_.materialise(workload_.program, trace, random);
    return candidate ? std::move(*candidate) : nullptr;
  }

  const Workload& workload_;
  const Space& space_;
  const DrawOptions& options_;
  const SketchSet set_;
  const StepReader reader_;
  std::vector<Trace> sketches_;
  std::vector<double> logits_;  // of choosing each sketch, by the prior
};

/// Of equal scores, the earlier stays first.
void keep_best(std::vector<Draw>& draws, size_t count) {
  std::ranges::stable_sort(draws, [](const Draw& a, const Draw& b) { return a.score > b.score; });
  if (draws.size() > count) draws.resize(count);
}

}  // namespace

RankedDraws best_of_draws(const Workload& workload, const Space& space, CostModel& model,
                          const DrawOptions& options, ThreadPool& pool) {
  const Drawing drawing(workload, space, options);
  model.begin(workload, space.device());
  RankedDraws ranked;
  std::vector<Draw> best;
  std::unordered_set<uint64_t> met;
  for (; ranked.drawn < options.draws; ranked.drawn += std::min(kChunk, options.draws - ranked.drawn)) {
    const auto count = static_cast<size_t>(std::min(kChunk, options.draws - ranked.drawn));
    std::vector<CandidatePtr> made(count);
    pool.parallel_for(count,
                      [&](size_t i) { made[i] = drawing.draw(static_cast<size_t>(ranked.drawn) + i); });
    std::erase_if(made,
                  [&](const CandidatePtr& one) { return !one || !met.insert(one->lowered_hash).second; });
    const std::vector<double> scores = model.predict(made);
    for (size_t i = 0; i < made.size(); ++i) best.push_back({std::move(made[i]), scores[i]});
    keep_best(best, options.keep);
  }
  ranked.programs = static_cast<int64_t>(met.size());
  for (Draw& draw : best) {
    ranked.best.push_back(std::move(draw.candidate));
    ranked.scores.push_back(draw.score);
  }
  return ranked;
}

}  // namespace tunesmith
