// A learner's settings; independent of XGBoost.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/plugin/options.h>

namespace tunesmith::xgboost {

struct Settings {
  int max_depth = 6;
  double eta = 0.1;
  double lambda = 1.0;
  double gamma = 0.0;
  double min_child_weight = 1.0;
  double column_share = 0.5;    // of the columns available to each tree
  int trees = 100;              // maximum for a full retraining
  int more_trees = 10;          // maximum for an incremental step
  int learn_every = 16;         // programs between steps
  double relearn_growth = 1.5;  // retrain fully when the number of programs has grown by this factor
  int most_programs = 1024;     // maximum learned per task
  double held_out = 0.0;        // share of the programs used for early stopping
  int early_stopping = 10;      // trees without an improvement on those
  double weight_power = 0.5;    // the weight of a program's error is its relative throughput to this power
  double least_weight = 0.1;    // minimum weight; the fastest program has 1
  int threads = 1;
  uint64_t seed = 0;
};

/// The options for TUNESMITH_PLUGIN: one per member of Settings, with the defaults of `preset`, and
/// model_file.
std::vector<OptionSpec> option_specs(const Settings& preset = {});
Settings settings_of(const Options& options);

}  // namespace tunesmith::xgboost
