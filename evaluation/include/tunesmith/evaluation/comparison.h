// Searches under equal conditions, and what they say of each other: the figures of `tunesmith compare`.
// docs/compare.md says what each figure means.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/evaluation/statistics.h"
#include "tunesmith/tuning/tuner.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A trial that found a faster program than all before it.
struct ProgressPoint {
  int64_t trial = 0;     // from 1
  double wall = 0.0;     // seconds since the search began
  double seconds = 0.0;  // of the program
};

/// One search: a strategy on a workload with a seed. Pairs of strategies are compared seed by seed.
struct SearchRun {
  std::string workload;
  std::string strategy;
  uint64_t seed = 0;
  std::vector<ProgressPoint> improvements;  // in their order
  int64_t trials = 0;
  double wall_seconds = 0.0;
  /// Of the best program, as it was ranked at the end; infinity when nothing worked.
  double final_seconds = 0.0;
  std::map<std::string, int64_t> failures;  // by cause
  std::map<std::string, int64_t> refusals;  // drafts, by reason
  std::vector<ModelBatch> model_batches;
  std::vector<ModelBatch> own_batches;  // of the searcher's own model, where it has one
  std::string model_dropped;            // why the cost model was left; "" when it was not
  double search_seconds = 0.0;          // spent in the searcher, the features and the model
  bool exhausted = false;               // it had nothing left to propose
};

/// Trials until a program is at least as fast; nothing when none was.
std::optional<int64_t> trials_to(const SearchRun& run, double seconds);

/// How often something was reached, and after how many trials: an infinite quartile says that so many of the
/// runs did not.
struct Reached {
  Quartiles trials;
  size_t runs = 0;  // that did
};

/// The best so far at one moment, over the seeds.
struct CurvePoint {
  double at = 0.0;  // trials, or seconds
  Quartiles best;   // seconds; infinite before anything worked
};

/// One strategy on one workload, over its seeds.
struct StrategySummary {
  std::string strategy;
  size_t runs = 0;
  Quartiles final_seconds;
  double over_baseline = 1.0;  // the baseline's median final seconds over its own: above 1 is faster
  Reached to_95;               // of the speed of the best known program
  Reached to_99;
  Reached to_baseline;  // as fast as the baseline's median final program
  std::vector<CurvePoint> by_trials;
  std::vector<CurvePoint> by_wall;
  double wall_seconds = 0.0;  // median of the whole searches
  double search_share = 0.0;  // of that: searcher, features and model, median
  double trials = 0.0;        // median; fewer than asked where a search had nothing left
  // Means over all rounds of all seeds; nothing where no round was large enough or the model was left.
  std::optional<double> rank_correlation;
  std::optional<double> best_of_eighth;
  std::optional<double> rmse;
  std::optional<double> own_rmse;  // of the searcher's own model
  size_t models_dropped = 0;       // runs that continued without their cost model
  std::map<std::string, int64_t> failures;
  std::map<std::string, int64_t> refusals;
};

struct WorkloadComparison {
  std::string workload;
  double best_known = 0.0;  // seconds
  std::vector<StrategySummary> strategies;
};

/// How near the best known speed the median search has come after some trials.
struct SharePoint {
  double at = 0.0;     // trials
  double share = 0.0;  // geometric mean over the workloads; 0 where in one of them nothing worked
  double worst = 0.0;
};

/// One strategy over all workloads, against the baseline.
struct OverallSummary {
  std::string strategy;
  double latency = 0.0;  // seconds: geometric mean of the median final times; 0 where none is finite
  double speed = 1.0;    // geometric mean of over_baseline
  /// Geometric mean of the ratios of the median trials to 95 %. What was not reached counts as the trials
  /// that were made, so that the ratio is a bound.
  double trials_to_95 = 1.0;
  bool trials_to_95_bound = false;
  /// Geometric mean of median trials until as fast as the baseline's final program, over the baseline's
  /// trials.
  double trials_to_baseline = 1.0;
  bool trials_to_baseline_bound = false;
  double worst_speed = 1.0;  // least over_baseline of a workload
  SignedRank final_test;     // of the logarithms of the final seconds, pairs of workload and seed
  SignedRank trials_test;    // of the trials to 95 %
  std::vector<SharePoint> by_trials;
};

struct Comparison {
  std::string baseline;
  std::vector<WorkloadComparison> workloads;  // in the order of their first runs
  std::vector<OverallSummary> overall;        // the baseline first
};

/// `strategies`: in the order to list them; the first is the baseline. `best_known`: seconds for each
/// workload; where it is absent, the best that any of the runs found. Runs of strategies that are not listed
/// are left out, and so are, of pairs, those that lack one side. Same runs, same answer.
Comparison compare_runs(const std::vector<SearchRun>& runs, const std::vector<std::string>& strategies,
                        const std::map<std::string, double>& best_known = {});

}  // namespace tunesmith
#pragma GCC visibility pop
