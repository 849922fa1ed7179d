#include "measured.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

/// The number of random draws that are averaged.
constexpr uint64_t kSamples = 200;

std::vector<double> standardised(std::vector<double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean) / count;
  for (double& value : values) value = (value - mean) / std::max(std::sqrt(squares), 1e-12);
  return values;
}

/// `speeds` are in the order of preference. Returns the expected logarithm of the fastest of the first
/// `timed` programs among `draws` random ones.
double mean_log_speed(const std::vector<double>& speeds, int64_t draws, size_t timed) {
  double sum = 0.0;
  for (uint64_t sample = 0; sample < kSamples; ++sample) {
    RandomStream random(static_cast<uint64_t>(draws), sample);
    std::set<size_t> places;
    for (int64_t i = 0; i < draws; ++i) places.insert(random.below(speeds.size()));
    double best = 0.0;
    size_t left = timed;
    for (auto place = places.begin(); place != places.end() && left > 0; ++place, --left)
      best = std::max(best, speeds[*place]);
    sum += std::log(best);
  }
  return sum / static_cast<double>(kSamples);
}

std::vector<double> in_order_of(const std::vector<double>& values, const std::vector<double>& speeds) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::vector<double> ordered;
  for (const size_t place : order) ordered.push_back(speeds[place]);
  return ordered;
}

}  // namespace

bool is_measured_task(const nlohmann::json& task) {
  return std::ranges::any_of(task.at("programs"),
                             [](const nlohmann::json& program) { return !program.at("seconds").is_null(); });
}

std::vector<MeasuredFigure> measured_figures(const Prior& prior, const nlohmann::json& task,
                                             const std::vector<int64_t>& draws) {
  std::vector<double> scores;
  std::vector<double> speeds;
  const std::vector<const nlohmann::json*> programs = programs_by_speed(task);
  const double fastest = programs.front()->at("seconds").get<double>();
  for (const nlohmann::json* program : programs) {
    scores.push_back(program->at("score").get<double>());
    speeds.push_back(fastest / program->at("seconds").get<double>());
  }
  scores = standardised(std::move(scores));
  const std::vector<double> likely = standardised(log_likelihoods(prior, example_of(task, 1.0)));
  std::vector<double> both = scores;
  for (size_t i = 0; i < both.size(); ++i) both[i] += likely[i];
  const std::array<std::vector<double>, kOrders> orders = {
      in_order_of(scores, speeds), in_order_of(likely, speeds), in_order_of(both, speeds)};
  std::vector<MeasuredFigure> figures;
  for (const int64_t count : draws) {
    MeasuredFigure& figure = figures.emplace_back();
    figure.workload = task.at("workload").get<std::string>();
    figure.draws = count;
    for (size_t order = 0; order < kOrders; ++order) {
      for (size_t timed = 0; timed < kTimed.size(); ++timed)
        figure.log_speeds[order][timed] = mean_log_speed(orders[order], count, kTimed[timed]);
    }
  }
  return figures;
}

void print_measured(const std::vector<MeasuredFigure>& figures, const std::vector<int64_t>& draws) {
  fmt::print(output(),
             "speed relative to the task's fastest program, geometric mean (worst): of the top-ranked draw, "
             "and of the fastest of the top {}\n{:>6}",
             kTimed.back(), "draws");
  for (const char* name : {"by the cost model", "by the prior", "by both"})
    fmt::print(output(), "  {:>29}", name);
  fmt::print(output(), "\n");
  for (const int64_t count : draws) {
    fmt::print(output(), "{:>6}", count);
    for (size_t order = 0; order < kOrders; ++order) {
      fmt::print(output(), " ");
      for (size_t timed = 0; timed < kTimed.size(); ++timed) {
        double sum = 0.0;
        double worst = 0.0;
        double tasks = 0.0;
        for (const MeasuredFigure& one : figures) {
          if (one.draws != count) continue;
          sum += one.log_speeds[order][timed];
          worst = std::min(worst, one.log_speeds[order][timed]);
          ++tasks;
        }
        fmt::print(output(), " {:.3f} ({:.3f})", std::exp(sum / std::max(tasks, 1.0)), std::exp(worst));
      }
    }
    fmt::print(output(), "\n");
  }
}

nlohmann::json measured_json(const std::vector<MeasuredFigure>& figures) {
  nlohmann::json rows = nlohmann::json::array();
  for (const MeasuredFigure& one : figures) {
    nlohmann::json row{{"workload", one.workload}, {"draws", one.draws}};
    for (size_t order = 0; order < kOrders; ++order) {
      row[kOrderNames[order]] = {{"first", std::exp(one.log_speeds[order].front())},
                                 {"best_of_ten", std::exp(one.log_speeds[order].back())}};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tunesmith::cli
