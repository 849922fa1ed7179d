// Prints the results of `compare`.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compare.h"
#include "output.h"
#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

using nlohmann::json;

// ---- Text ----

/// "529 us", "never".
std::string time_text(double seconds) { return std::isfinite(seconds) ? seconds_text(seconds) : "never"; }

/// "64", "64.5", "never". "never": the search needs more trials than it made.
std::string trials_text(double trials) {
  if (!std::isfinite(trials)) return "never";
  return trials == std::floor(trials) ? fmt::format("{:.0f}", trials) : fmt::format("{:.1f}", trials);
}

std::string reached_text(const Reached& reached, size_t runs) {
  const std::string median = trials_text(reached.trials.median);
  return reached.runs == runs ? median : fmt::format("{} ({}/{})", median, reached.runs, runs);
}

std::string optional_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string p_text(const SignedRank& test) {
  if (test.pairs == 0) return "-";
  return test.p_value < 0.0001 ? "<.0001"
                               : fmt::format("{:.4f}", test.p_value).substr(test.p_value < 1.0 ? 1 : 0);
}

/// The curve at a few points, as shares of the best known speed.
std::string curve_text(const std::vector<CurvePoint>& curve, double best_known, bool seconds, size_t first,
                       size_t step) {
  std::string text;
  for (size_t i = first; i < curve.size(); i += step) {
    const std::string at = seconds ? seconds_text(curve[i].at) : fmt::format("{:.0f}", curve[i].at);
    const double median = curve[i].best.median;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "  ", at,
                        std::isfinite(median) ? fmt::format("{:.3f}", best_known / median) : "-");
  }
  return text;
}

void print_workload(const WorkloadComparison& workload, size_t width, const std::string& baseline) {
  fmt::print(output(), "{}\n  best known {}\n", workload.workload, time_text(workload.best_known));
  fmt::print(output(), "  {:<{}} {:>9} {:>20} {:>7} {:>14} {:>14} {:>14} {:>9} {:>7}\n", "", width, "final",
             "quartiles", "speed", "trials to 95 %", "to 99 %", "to baseline's", "wall", "search");
  for (const StrategySummary& one : workload.strategies) {
    fmt::print(output(), "  {:<{}} {:>9} {:>20} {:>7.3f} {:>14} {:>14} {:>14} {:>9} {:>6.1f}%\n",
               one.strategy, width, time_text(one.final_seconds.median),
               fmt::format("{} - {}", time_text(one.final_seconds.low), time_text(one.final_seconds.high)),
               one.over_baseline, reached_text(one.to_95, one.runs), reached_text(one.to_99, one.runs),
               reached_text(one.to_baseline, one.runs), seconds_text(one.wall_seconds),
               100.0 * one.search_share);
  }
  fmt::print(output(),
             "  median share of the best known speed after trials (upper), and after wall-clock (lower)\n");
  for (const StrategySummary& one : workload.strategies) {
    fmt::print(output(), "  {:<{}} {}\n", one.strategy, width,
               curve_text(one.by_trials, workload.best_known, false, 5, 1));
    fmt::print(output(), "  {:<{}} {}\n", "", width,
               curve_text(one.by_wall, workload.best_known, true, 3, 4));
  }
  for (const StrategySummary& one : workload.strategies) {
    for (const auto& [cause, count] : one.failures)
      fmt::print(output(), "  {}: {} programs failed, {}\n", one.strategy, count, cause);
    if (const auto unknown = one.refusals.find(kNotInTable); unknown != one.refusals.end())
      fmt::print(output(), "  {}: {} drafts were rejected: {}\n", one.strategy, unknown->second,
                 unknown->first);
    if (one.models_dropped > 0)
      fmt::print(output(), "  {}: {} searches continued without their cost model\n", one.strategy,
                 one.models_dropped);
    if (one.trials < workload.strategies.front().trials)
      fmt::print(output(), "  {}: search space exhausted after {} trials (median)\n", one.strategy,
                 trials_text(one.trials));
  }
  fmt::print(output(), "  speed and trials 'to baseline's': relative to the median final time of {}\n\n",
             baseline);
}

/// A mean over the workloads that have a value.
std::string mean_text(const Comparison& comparison, const std::string& strategy,
                      std::optional<double> StrategySummary::* value) {
  double sum = 0.0;
  int count = 0;
  for (const WorkloadComparison& workload : comparison.workloads) {
    for (const StrategySummary& one : workload.strategies) {
      if (one.strategy != strategy || !(one.*value)) continue;
      sum += *(one.*value);
      ++count;
    }
  }
  return optional_text(count > 0 ? std::optional(sum / count) : std::nullopt);
}

/// The trials as a share of the baseline's.
std::string trials_to_final_text(const OverallSummary& one) {
  return fmt::format("{}{:.2f}", one.trials_to_baseline_bound ? ">" : "", one.trials_to_baseline);
}

/// Prints, for each strategy, the times found after some numbers of trials, and its models' error.
void print_latency_table(const Comparison& comparison, size_t width) {
  fmt::print(output(), "\nLatency, trials and model error (means over the workloads)\n");
  fmt::print(output(), "  {:<{}} {:>10} {:>19} {:>16} {:>16}\n", "", width, "latency", "trials to own final",
             "cost model RMSE", "own model RMSE");
  for (const OverallSummary& one : comparison.overall) {
    fmt::print(output(), "  {:<{}} {:>10} {:>19} {:>16} {:>16}\n", one.strategy, width,
               one.latency > 0.0 ? seconds_text(one.latency) : "-", trials_to_final_text(one),
               mean_text(comparison, one.strategy, &StrategySummary::rmse),
               mean_text(comparison, one.strategy, &StrategySummary::own_rmse));
  }
}

/// Prints curves that begin with the first program that a searcher proposed.
void print_curves(const Comparison& comparison, size_t width) {
  fmt::print(output(),
             "\nShare of the best known speed after trials, including the two plain forms: geometric mean "
             "over the workloads (worst)\n");
  for (const OverallSummary& one : comparison.overall) {
    std::string text;
    for (const SharePoint& point : one.by_trials) {
      if (point.at >= 3.0)
        text += fmt::format("  {:.0f}: {:.3f} ({:.3f})", point.at, point.share, point.worst);
    }
    fmt::print(output(), "  {:<{}}{}\n", one.strategy, width, text);
  }
}

void print_overall(const Comparison& comparison, size_t width) {
  fmt::print(output(),
             "All {} workloads, against {} (geometric means of medians; p: Wilcoxon's signed-rank test)\n",
             comparison.workloads.size(), comparison.baseline);
  fmt::print(output(), "  {:<{}} {:>6} {:>6} {:>7} {:>16} {:>7} {:>19} {:>10} {:>9} {:>6}\n", "", width,
             "speed", "worst", "p", "trials to 95 %", "p", "trials to own final", "rank corr.", "best of 8",
             "RMSE");
  for (const OverallSummary& one : comparison.overall) {
    fmt::print(output(), "  {:<{}} {:>6.3f} {:>6.3f} {:>7} {:>16} {:>7} {:>19} {:>10} {:>9} {:>6}\n",
               one.strategy, width, one.speed, one.worst_speed, p_text(one.final_test),
               fmt::format("{}{:.2f}", one.trials_to_95_bound ? "~" : "", one.trials_to_95),
               p_text(one.trials_test), trials_to_final_text(one),
               mean_text(comparison, one.strategy, &StrategySummary::rank_correlation),
               mean_text(comparison, one.strategy, &StrategySummary::best_of_eighth),
               mean_text(comparison, one.strategy, &StrategySummary::rmse));
  }
  print_latency_table(comparison, width);
  print_curves(comparison, width);
}

// ---- JSON ----

json optional_json(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }
json to_json(const Quartiles& quartiles) {
  return {{"low", finite_or_null(quartiles.low)},
          {"median", finite_or_null(quartiles.median)},
          {"high", finite_or_null(quartiles.high)}};
}
json to_json(const Reached& reached) { return {{"trials", to_json(reached.trials)}, {"runs", reached.runs}}; }
json to_json(const SignedRank& test) { return {{"pairs", test.pairs}, {"p_value", test.p_value}}; }
json to_json(const std::vector<CurvePoint>& curve) {
  json points = json::array();
  for (const CurvePoint& point : curve)
    points.push_back({{"at", point.at}, {"best_seconds", to_json(point.best)}});
  return points;
}

json to_json(const std::vector<SharePoint>& curve) {
  json points = json::array();
  for (const SharePoint& point : curve)
    points.push_back({{"at", point.at}, {"share", point.share}, {"worst", point.worst}});
  return points;
}

json to_json(const StrategySummary& one) {
  return {{"strategy", one.strategy},
          {"runs", one.runs},
          {"final_seconds", to_json(one.final_seconds)},
          {"speed_over_baseline", finite_or_null(one.over_baseline)},
          {"trials_to_95", to_json(one.to_95)},
          {"trials_to_99", to_json(one.to_99)},
          {"trials_to_baseline", to_json(one.to_baseline)},
          {"by_trials", to_json(one.by_trials)},
          {"by_wall_seconds", to_json(one.by_wall)},
          {"wall_seconds", one.wall_seconds},
          {"search_share", one.search_share},
          {"trials", one.trials},
          {"model",
           {{"rank_correlation", optional_json(one.rank_correlation)},
            {"best_of_eighth", optional_json(one.best_of_eighth)},
            {"rmse", optional_json(one.rmse)},
            {"dropped", one.models_dropped}}},
          {"own_model", {{"rmse", optional_json(one.own_rmse)}}},
          {"failures", one.failures},
          {"refusals", one.refusals}};
}

}  // namespace

void print_comparison(const Comparison& comparison, const CompareFacts& facts) {
  size_t width = 8;
  for (const OverallSummary& one : comparison.overall) width = std::max(width, one.strategy.size());
  if (facts.searches < facts.wanted)
    fmt::print(output(), "Interrupted: {} of {} searches finished; the figures cover only those.\n\n",
               facts.searches, facts.wanted);
  fmt::print(output(), "{} seeds, {} trials\n\n", facts.seeds, facts.trials);
  for (const WorkloadComparison& workload : comparison.workloads)
    print_workload(workload, width, comparison.baseline);
  print_overall(comparison, width);
}

nlohmann::json comparison_json(const Comparison& comparison, const CompareFacts& facts) {
  json workloads = json::array();
  for (const WorkloadComparison& workload : comparison.workloads) {
    json strategies = json::array();
    for (const StrategySummary& one : workload.strategies) strategies.push_back(to_json(one));
    workloads.push_back({{"workload", workload.workload},
                         {"best_known_seconds", finite_or_null(workload.best_known)},
                         {"strategies", strategies}});
  }
  json overall = json::array();
  for (const OverallSummary& one : comparison.overall) {
    overall.push_back({{"strategy", one.strategy},
                       {"latency_seconds", one.latency > 0.0 ? json(one.latency) : json(nullptr)},
                       {"speed", one.speed},
                       {"worst_speed", one.worst_speed},
                       {"by_trials", to_json(one.by_trials)},
                       {"trials_to_95", one.trials_to_95},
                       {"trials_to_95_is_bound", one.trials_to_95_bound},
                       {"trials_to_baseline_final", one.trials_to_baseline},
                       {"trials_to_baseline_final_is_bound", one.trials_to_baseline_bound},
                       {"final_test", to_json(one.final_test)},
                       {"trials_test", to_json(one.trials_test)}});
  }
  return {{"baseline", comparison.baseline},
          {"trials", facts.trials},
          {"seeds", facts.seeds},
          {"searches", facts.searches},
          {"wanted", facts.wanted},
          {"interrupted", facts.interrupted},
          {"test", "wilcoxon signed-rank, exact, two-sided"},
          {"workloads", workloads},
          {"overall", overall}};
}

}  // namespace tunesmith::cli
