// Compares searches under equal conditions: the figures of
// `tunesmith compare`. docs/compare.md explains each figure.
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

/// A trial that found a faster program than all previous trials.
struct ProgressPoint {
  int64_t trial = 0;     // from 1
  double wall = 0.0;     // seconds since the search began
  double seconds = 0.0;  // of the program
};

/// One search: a strategy on a workload with a seed. Strategies are compared pairwise, seed by seed.
struct SearchRun {
  std::string workload;
  std::string strategy;
  uint64_t seed = 0;
  std::vector<ProgressPoint> improvements;  // in order
  int64_t trials = 0;
  double wall_seconds = 0.0;
  /// The best program's time after the final ranking; infinity if no program worked.
  double final_seconds = 0.0;
  std::map<std::string, int64_t> failures;  // by cause
  std::map<std::string, int64_t> refusals;  // of drafts, by reason
  std::vector<ModelBatch> model_batches;
  std::vector<ModelBatch> own_batches;  // of the searcher's own model, if any
  std::string model_dropped;            // why the cost model was dropped; "" if it was not
  double search_seconds = 0.0;          // time in the searcher, the features and the model
  bool exhausted = false;               // nothing was left to propose
};

/// The number of trials until a program was at least this fast; nothing if none was.
std::optional<int64_t> trials_to(const SearchRun& run, double seconds);

/// How often and after how many trials something was reached; an
/// infinite quartile means that this share of the runs did not reach it.
struct Reached {
  Quartiles trials;
  size_t runs = 0;  // number of runs that did
};

/// The best time so far at one point, over the seeds.
struct CurvePoint {
  double at = 0.0;  // trials, or seconds
  Quartiles best;   // in seconds; infinite before any program worked
};

/// One strategy on one workload, over its seeds.
struct StrategySummary {
  std::string strategy;
  size_t runs = 0;
  Quartiles final_seconds;
  double over_baseline = 1.0;  // the baseline's median final time divided by this one's: above 1 is faster
  Reached to_95;               // trials to 95 % of the best known program's speed
  Reached to_99;
  Reached to_baseline;  // trials to the speed of the baseline's median final program
  std::vector<CurvePoint> by_trials;
  std::vector<CurvePoint> by_wall;
  double wall_seconds = 0.0;  // median over the searches
  double search_share = 0.0;  // the share of it in searcher, features and model; median
  double trials = 0.0;        // median; less than requested if a search ran out of proposals
  // Means over all rounds of all seeds; nothing if no round was large enough or the model was dropped.
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

/// The speed of the median search after some trials, relative to the best known speed.
struct SharePoint {
  double at = 0.0;     // trials
  double share = 0.0;  // geometric mean over the workloads; 0 if no program of one of them worked
  double worst = 0.0;
};

/// One strategy over all workloads, relative to the baseline.
struct OverallSummary {
  std::string strategy;
  double latency = 0.0;  // seconds: geometric mean of the median final times; 0 if none is finite
  double speed = 1.0;    // geometric mean of over_baseline
  /// Geometric mean of the ratios of median trials to 95 %. A target that was
  /// not reached counts as the number of trials made, so the ratio is a bound.
  double trials_to_95 = 1.0;
  bool trials_to_95_bound = false;
  /// Geometric mean of the median trials to the speed of the
  /// baseline's final program, divided by the baseline's trials.
  double trials_to_baseline = 1.0;
  bool trials_to_baseline_bound = false;
  double worst_speed = 1.0;  // the smallest over_baseline of a workload
  SignedRank final_test;     // of the log final times, paired by workload and seed
  SignedRank trials_test;    // of the trials to 95 %
  std::vector<SharePoint> by_trials;
};

struct Comparison {
  std::string baseline;
  std::vector<WorkloadComparison> workloads;  // in the order of their first runs
  std::vector<OverallSummary> overall;        // the baseline comes first
};

/// `strategies`: in listing order; the first is the baseline. `best_known`:
/// seconds for each workload; if absent, the best of all runs. Runs of other
/// strategies are ignored, as are pairs with a missing side. Deterministic.
Comparison compare_runs(const std::vector<SearchRun>& runs, const std::vector<std::string>& strategies,
                        const std::map<std::string, double>& best_known = {});

}  // namespace tunesmith
#pragma GCC visibility pop
