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
  int trees = 100;              // maximum when learning anew
  int more_trees = 10;          // at most, when learning on
  int learn_every = 16;         // programs
  double relearn_growth = 1.5;  // learn anew when the data have grown by this factor
  int most_programs = 1024;     // maximum learned per task
  double held_out = 0.0;        // share of the programs used for early stopping
  int early_stopping = 10;      // trees without an improvement on those
  double weight_power = 0.5;    // of the throughput, as the weight of a program's error
  double least_weight = 0.1;    // the fastest has 1
  int threads = 1;
  uint64_t seed = 0;
};

/// One for each of Settings, with these defaults, and model_file, for TUNESMITH_PLUGIN.
std::vector<OptionSpec> option_specs(const Settings& preset = {});
Settings settings_of(const Options& options);

}  // namespace tunesmith::xgboost
