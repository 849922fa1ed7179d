// What a learner is told besides programs; stands on nothing of XGBoost's.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/plugin/options.h>

namespace tunesmith::xgboost {

struct Settings {
  int max_depth = 6;
  double eta = 0.2;
  double gamma = 1e-3;
  double min_child_weight = 0.0;
  double column_share = 1.0;    // of the columns that each tree may look at
  int trees = 100;              // at most, when learning anew
  int more_trees = 10;          // at most, when learning on
  int learn_every = 32;         // programs
  double relearn_growth = 1.5;  // learn anew when there is so many times the data of the last time
  double held_out = 0.15;       // share of the programs that trees are stopped by
  int early_stopping = 10;      // trees without an improvement on those
  double power = 1.0;           // to which throughputs are raised before they are learnt
  double least_weight = 0.1;    // of a failure; the fastest has 1
  int threads = 1;
  uint64_t seed = 0;
};

/// One for each of Settings, for TUNESMITH_PLUGIN.
std::vector<OptionSpec> option_specs();
Settings settings_of(const Options& options);

}  // namespace tunesmith::xgboost
