#include "tunesmith/evaluation/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

using Runs = std::vector<const SearchRun*>;

double trials_or_never(const SearchRun& run, double seconds) {
  const std::optional<int64_t> trials = trials_to(run, seconds);
  return trials ? static_cast<double>(*trials) : kNever;
}

Reached reached(const Runs& runs, double seconds) {
  std::vector<double> trials;
  Reached answer;
  for (const SearchRun* run : runs) {
    trials.push_back(trials_or_never(*run, seconds));
    if (trials.back() != kNever) ++answer.runs;
  }
  answer.trials = quartiles(trials);
  return answer;
}

/// The best time at the last improvement for which `reached` is true.
template <typename Reached>
double best_before(const SearchRun& run, const Reached& reached) {
  double best = kNever;
  for (const ProgressPoint& improvement : run.improvements) {
    if (reached(improvement)) best = improvement.seconds;
  }
  return best;
}

/// 1, 2, 4, 8, ..., the last, and 3: after the two plain forms, the searcher proposed the third.
std::vector<int64_t> moments(int64_t last) {
  constexpr int64_t kFirstProposed = 3;
  std::vector<int64_t> at;
  for (int64_t trials = 1; trials < last; trials *= 2) {
    at.push_back(trials);
    if (trials == 2 && last > kFirstProposed) at.push_back(kFirstProposed);
  }
  at.push_back(last);
  return at;
}

template <typename Best>
CurvePoint curve_point(const Runs& runs, double at, const Best& best) {
  std::vector<double> values;
  for (const SearchRun* run : runs) values.push_back(best(*run));
  return {at, quartiles(values)};
}

template <typename Value>
double median_of(const Runs& runs, const Value& value) {
  std::vector<double> values;
  for (const SearchRun* run : runs) values.push_back(value(*run));
  return quartiles(values).median;
}

double wall_of(const SearchRun& run) { return run.wall_seconds; }

void add_model(const Runs& runs, StrategySummary& summary) {
  double rounds = 0.0;
  ModelBatch sum;
  for (const SearchRun* run : runs) {
    if (!run->model_dropped.empty()) ++summary.models_dropped;
    for (const ModelBatch& batch : run->model_batches) {
      rounds += 1.0;
      sum.rank_correlation += batch.rank_correlation;
      sum.best_of_eighth += batch.best_of_eighth;
      sum.rmse += batch.rmse;
    }
  }
  if (rounds == 0.0) return;
  summary.rank_correlation = sum.rank_correlation / rounds;
  summary.best_of_eighth = sum.best_of_eighth / rounds;
  summary.rmse = sum.rmse / rounds;
}

void add_own_model(const Runs& runs, StrategySummary& summary) {
  double rounds = 0.0;
  double sum = 0.0;
  for (const SearchRun* run : runs) {
    for (const ModelBatch& batch : run->own_batches) {
      rounds += 1.0;
      sum += batch.rmse;
    }
  }
  if (rounds > 0.0) summary.own_rmse = sum / rounds;
}

StrategySummary summarise(const std::string& strategy, const Runs& runs, double best_known,
                          double baseline_final, int64_t max_trials, double longest) {
  StrategySummary summary;
  summary.strategy = strategy;
  summary.runs = runs.size();
  std::vector<double> finals;
  for (const SearchRun* run : runs) {
    finals.push_back(run->final_seconds);
    for (const auto& [cause, count] : run->failures) summary.failures[cause] += count;
    for (const auto& [reason, count] : run->refusals) summary.refusals[reason] += count;
  }
  summary.final_seconds = quartiles(finals);
  summary.over_baseline = baseline_final / summary.final_seconds.median;
  summary.to_95 = reached(runs, best_known / 0.95);
  summary.to_99 = reached(runs, best_known / 0.99);
  summary.to_baseline = reached(runs, baseline_final);
  for (const int64_t at : moments(max_trials)) {
    summary.by_trials.push_back(curve_point(runs, static_cast<double>(at), [&](const SearchRun& run) {
      return best_before(run, [&](const ProgressPoint& one) { return one.trial <= at; });
    }));
  }
  constexpr int kParts = 16;
  for (int part = 1; part <= kParts; ++part) {
    const double at = longest * part / kParts;
    summary.by_wall.push_back(curve_point(runs, at, [&](const SearchRun& run) {
      return best_before(run, [&](const ProgressPoint& one) { return one.wall <= at; });
    }));
  }
  summary.wall_seconds = median_of(runs, wall_of);
  summary.search_share = median_of(runs, [](const SearchRun& run) {
    return wall_of(run) > 0.0 ? run.search_seconds / wall_of(run) : 0.0;
  });
  summary.trials = median_of(runs, [](const SearchRun& run) { return static_cast<double>(run.trials); });
  add_model(runs, summary);
  add_own_model(runs, summary);
  return summary;
}

/// Averages at the points that all curves have. `curves`: shares of the best known speed, one curve per
/// workload.
std::vector<SharePoint> mean_curve(const std::vector<std::map<double, double>>& curves) {
  std::vector<SharePoint> points;
  for (const auto& [at, unused] : curves.empty() ? std::map<double, double>() : curves.front()) {
    std::vector<double> shares;
    for (const std::map<double, double>& curve : curves) {
      if (const auto found = curve.find(at); found != curve.end()) shares.push_back(found->second);
    }
    if (shares.size() < curves.size()) continue;
    const double worst = *std::ranges::min_element(shares);
    points.push_back({at, worst > 0.0 ? geometric_mean(shares) : 0.0, worst});
  }
  return points;
}

class Comparer {
 public:
  Comparer(const std::vector<SearchRun>& runs, const std::vector<std::string>& strategies,
           const std::map<std::string, double>& best_known)
      : strategies_(strategies), best_known_(best_known) {
    for (const SearchRun& run : runs) {
      if (std::ranges::find(strategies, run.strategy) == strategies.end()) continue;
      if (std::ranges::find(workloads_, run.workload) == workloads_.end()) workloads_.push_back(run.workload);
      runs_[run.workload][run.strategy].push_back(&run);
    }
  }

  Comparison compare() const {
    Comparison comparison;
    comparison.baseline = strategies_.front();
    for (const std::string& workload : workloads_) comparison.workloads.push_back(compare(workload));
    for (const std::string& strategy : strategies_)
      comparison.overall.push_back(overall(strategy, comparison.workloads));
    return comparison;
  }

 private:
  Runs runs_of(const std::string& workload, const std::string& strategy) const {
    const auto& by_strategy = runs_.at(workload);
    const auto found = by_strategy.find(strategy);
    return found == by_strategy.end() ? Runs() : found->second;
  }

  double best_known(const std::string& workload) const {
    if (const auto known = best_known_.find(workload); known != best_known_.end()) return known->second;
    double best = kNever;
    for (const auto& [strategy, runs] : runs_.at(workload)) {
      for (const SearchRun* run : runs) best = std::min(best, run->final_seconds);
    }
    return best;
  }

  WorkloadComparison compare(const std::string& workload) const {
    WorkloadComparison comparison{workload, best_known(workload), {}};
    int64_t max_trials = 1;
    double longest = 0.0;
    for (const auto& [strategy, runs] : runs_.at(workload)) {
      for (const SearchRun* run : runs) max_trials = std::max(max_trials, run->trials);
      longest = std::max(longest, median_of(runs, wall_of));
    }
    const Runs baseline = runs_of(workload, strategies_.front());
    const double baseline_final =
        baseline.empty() ? kNever
                         : median_of(baseline, [](const SearchRun& run) { return run.final_seconds; });
    for (const std::string& strategy : strategies_) {
      const Runs runs = runs_of(workload, strategy);
      if (runs.empty()) continue;
      comparison.strategies.push_back(
          summarise(strategy, runs, comparison.best_known, baseline_final, max_trials, longest));
    }
    return comparison;
  }

  OverallSummary overall(const std::string& strategy,
                         const std::vector<WorkloadComparison>& workloads) const {
    OverallSummary answer;
    answer.strategy = strategy;
    std::vector<double> latencies;
    std::vector<double> speeds;
    std::vector<double> to_95;
    std::vector<double> to_baseline;
    std::vector<std::map<double, double>> curves;
    for (const WorkloadComparison& workload : workloads) {
      const StrategySummary* own = find(workload, strategy);
      const StrategySummary* base = find(workload, strategies_.front());
      if (own == nullptr || base == nullptr || !std::isfinite(own->over_baseline)) continue;
      std::map<double, double>& curve = curves.emplace_back();
      for (const CurvePoint& point : own->by_trials)
        curve[point.at] = workload.best_known / point.best.median;  // 0 before any program worked
      latencies.push_back(own->final_seconds.median);
      speeds.push_back(own->over_baseline);
      to_95.push_back(bounded(own->to_95.trials.median, own->trials, answer.trials_to_95_bound) /
                      bounded(base->to_95.trials.median, base->trials, answer.trials_to_95_bound));
      to_baseline.push_back(
          bounded(own->to_baseline.trials.median, own->trials, answer.trials_to_baseline_bound) /
          base->trials);
    }
    if (!speeds.empty()) {
      answer.latency = geometric_mean(latencies);
      answer.speed = geometric_mean(speeds);
      answer.worst_speed = *std::ranges::min_element(speeds);
      answer.trials_to_95 = geometric_mean(to_95);
      answer.trials_to_baseline = geometric_mean(to_baseline);
    }
    answer.by_trials = mean_curve(curves);
    test(strategy, workloads, answer);
    return answer;
  }

  static const StrategySummary* find(const WorkloadComparison& workload, const std::string& strategy) {
    const auto found = std::ranges::find(workload.strategies, strategy, &StrategySummary::strategy);
    return found == workload.strategies.end() ? nullptr : &*found;
  }

  static double bounded(double trials, double made, bool& bound) {
    if (std::isfinite(trials)) return trials;
    bound = true;
    return made;
  }

  /// Pairs with the same workload and seed.
  void test(const std::string& strategy, const std::vector<WorkloadComparison>& workloads,
            OverallSummary& answer) const {
    std::vector<double> finals;
    std::vector<double> trials;
    for (const WorkloadComparison& workload : workloads) {
      const double near_best = workload.best_known / 0.95;
      for (const SearchRun* own : runs_of(workload.workload, strategy)) {
        for (const SearchRun* base : runs_of(workload.workload, strategies_.front())) {
          if (own->seed != base->seed) continue;
          if (std::isfinite(own->final_seconds) && std::isfinite(base->final_seconds))
            finals.push_back(std::log(own->final_seconds / base->final_seconds));
          const auto made = [](const SearchRun& run) { return static_cast<double>(run.trials); };
          trials.push_back(std::min(trials_or_never(*own, near_best), made(*own)) -
                           std::min(trials_or_never(*base, near_best), made(*base)));
        }
      }
    }
    answer.final_test = signed_rank(finals);
    answer.trials_test = signed_rank(trials);
  }

  const std::vector<std::string>& strategies_;
  const std::map<std::string, double>& best_known_;
  std::vector<std::string> workloads_;
  std::map<std::string, std::map<std::string, Runs>> runs_;
};

}  // namespace

std::optional<int64_t> trials_to(const SearchRun& run, double seconds) {
  const auto found = std::ranges::find_if(run.improvements,
                                          [&](const ProgressPoint& one) { return one.seconds <= seconds; });
  if (found == run.improvements.end()) return std::nullopt;
  return found->trial;
}

Comparison compare_runs(const std::vector<SearchRun>& runs, const std::vector<std::string>& strategies,
                        const std::map<std::string, double>& best_known) {
  check_invariant(!strategies.empty(), "a comparison has a baseline");
  return Comparer(runs, strategies, best_known).compare();
}

}  // namespace tunesmith
