#include "trial.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/search/score_quality.h>
#include <tunesmith/support/random.h>

#include "output.h"

namespace tunesmith::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Trains the model on the other tasks and returns its saved state; "" if it saves nothing.
std::string learn_others(const std::vector<MeasuredTask>& tasks, size_t task, CostModel& model) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (i == task || tasks[i].workload.hash == tasks[task].workload.hash) continue;
    model.begin(tasks[i].workload, tasks[i].device);
    model.update(tasks[i].programs);
  }
  return model.save();
}

std::vector<Measured> shuffled(const std::vector<Measured>& programs, uint64_t seed) {
  std::vector<std::pair<double, size_t>> lots;
  for (size_t i = 0; i < programs.size(); ++i)
    lots.emplace_back(RandomStream(seed, programs[i].candidate->lowered_hash).uniform(), i);
  std::ranges::sort(lots);
  std::vector<Measured> order;
  for (const auto& [lot, i] : lots) order.push_back(programs[i]);
  return order;
}

}  // namespace

std::vector<ModelFigures> try_model(const std::vector<MeasuredTask>& tasks, size_t task,
                                    const std::function<std::shared_ptr<CostModel>()>& make,
                                    const ModelTrial& trial) {
  const std::vector<Measured> programs = shuffled(tasks[task].programs, trial.seed);
  const size_t held_out = std::min<size_t>(programs.size() / 3, 1000);
  std::vector<CandidatePtr> unseen;
  std::vector<double> throughputs;
  for (size_t i = 0; i < held_out; ++i) {
    unseen.push_back(programs[i].candidate);
    throughputs.push_back(programs[i].timing ? 1.0 / programs[i].timing->min : 0.0);
  }
  const std::span<const Measured> rest = std::span(programs).subspan(held_out);
  const std::string ahead = trial.alone ? "" : learn_others(tasks, task, *make());
  std::vector<ModelFigures> figures;
  for (const bool with_others : {false, true}) {
    if (with_others && ahead.empty()) continue;
    for (const int64_t count : trial.counts) {
      if (static_cast<size_t>(count) > rest.size() || held_out == 0) continue;
      const std::shared_ptr<CostModel> model = make();
      if (with_others) model->load(ahead);
      model->begin(tasks[task].workload, tasks[task].device);
      ModelFigures one;
      one.workload = tasks[task].workload.key;
      one.ahead = with_others;
      one.measured = count;
      one.programs = static_cast<int64_t>(held_out);
      const Clock::time_point begin = Clock::now();
      if (count > 0) model->update(rest.first(static_cast<size_t>(count)));
      one.learn_seconds = seconds_since(begin);
      const Clock::time_point learned = Clock::now();
      const std::vector<double> scores = model->predict(unseen);
      one.predict_seconds = seconds_since(learned);
      one.pairs = pairs_in_order(scores, throughputs);
      one.apart = pairs_in_order(scores, throughputs, 1.1);
      one.best_of_64 = best_of_first(scores, throughputs, 64);
      one.rank_correlation = rank_correlation(scores, throughputs);
      figures.push_back(one);
    }
  }
  return figures;
}

nlohmann::json to_json(const ModelFigures& figures) {
  return {{"workload", figures.workload},           {"ahead", figures.ahead},
          {"measured", figures.measured},           {"programs", figures.programs},
          {"pairs_in_order", figures.pairs},        {"pairs_a_tenth_apart_in_order", figures.apart},
          {"best_of_64", figures.best_of_64},       {"rank_correlation", figures.rank_correlation},
          {"learn_seconds", figures.learn_seconds}, {"predict_seconds", figures.predict_seconds}};
}

void print_figures(const std::vector<ModelFigures>& figures, const std::string& model) {
  struct Mean {
    ModelFigures sum;
    double tasks = 0.0;
  };
  std::map<std::pair<bool, int64_t>, Mean> means;
  const auto line = [](const ModelFigures& one, double n, const std::string& text) {
    fmt::print(output(), "{:>5} {:>8}  {:>5.3f}  {:>10.3f}  {:>10.3f}  {:>11.3f}  {}\n",
               one.ahead ? "yes" : "no", one.measured, one.pairs / n, one.apart / n, one.best_of_64 / n,
               one.rank_correlation / n, text);
  };
  fmt::print(output(), "{}: accuracy on held-out programs\n", model);
  fmt::print(output(), "{:>5} {:>8}  {:>5}  {:>10}  {:>10}  {:>11}\n", "ahead", "measured", "pairs",
             "10 % apart", "best of 64", "correlation");
  for (const ModelFigures& one : figures) {
    line(one, 1.0, fmt::format("{} programs of {}", one.programs, one.workload));
    Mean& mean = means[{one.ahead, one.measured}];
    mean.tasks += 1.0;
    mean.sum.ahead = one.ahead;
    mean.sum.measured = one.measured;
    mean.sum.pairs += one.pairs;
    mean.sum.apart += one.apart;
    mean.sum.best_of_64 += one.best_of_64;
    mean.sum.rank_correlation += one.rank_correlation;
  }
  for (const auto& [key, mean] : means)
    line(mean.sum, mean.tasks, fmt::format("mean of {} task{}", mean.tasks, mean.tasks > 1.0 ? "s" : ""));
}

}  // namespace tunesmith::cli
