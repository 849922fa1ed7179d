#include "settings.h"

namespace tunesmith::xgboost {

std::vector<OptionSpec> option_specs() {
  const Settings preset;
  return {
      OptionSpec::integer("max_depth", preset.max_depth, 1, 16, "of a tree"),
      OptionSpec::real("eta", preset.eta, 1e-3, 1.0, "share of a tree's correction that is taken"),
      OptionSpec::real("gamma", preset.gamma, 0.0, 1e3, "least gain of a split"),
      OptionSpec::real("min_child_weight", preset.min_child_weight, 0.0, 1e6, "least weight of a leaf"),
      OptionSpec::real("column_share", preset.column_share, 0.01, 1.0,
                       "of the features that a tree may look at"),
      OptionSpec::integer("trees", preset.trees, 1, 10000, "at most, when learning anew"),
      OptionSpec::integer("more_trees", preset.more_trees, 1, 10000, "at most, when learning on"),
      OptionSpec::integer("learn_every", preset.learn_every, 2, 1 << 20,
                          "programs; those beyond a multiple of it wait"),
      OptionSpec::real("relearn_growth", preset.relearn_growth, 1.0, 1e6,
                       "learn anew with so many times the programs of the last time, else learn on"),
      OptionSpec::real("held_out", preset.held_out, 0.0, 0.5, "share of the programs that say when to stop"),
      OptionSpec::integer("early_stopping", preset.early_stopping, 1, 10000,
                          "trees that do not improve on the programs held out"),
      OptionSpec::real(
          "power", preset.power, 0.05, 1.0,
          "to which throughputs are raised before they are learnt: less tells slow programs apart"),
      OptionSpec::real("least_weight", preset.least_weight, 0.0, 1.0,
                       "of a failure in the error; the fastest program has 1"),
      OptionSpec::integer("threads", preset.threads, 1, 1024, "that train and predict"),
      OptionSpec::integer("seed", 0, 0, 1 << 30,
                          "of what is held out, and of the scores before anything is learnt"),
  };
}

Settings settings_of(const Options& options) {
  Settings settings;
  settings.max_depth = static_cast<int>(options.get_int("max_depth"));
  settings.eta = options.get_double("eta");
  settings.gamma = options.get_double("gamma");
  settings.min_child_weight = options.get_double("min_child_weight");
  settings.column_share = options.get_double("column_share");
  settings.trees = static_cast<int>(options.get_int("trees"));
  settings.more_trees = static_cast<int>(options.get_int("more_trees"));
  settings.relearn_growth = options.get_double("relearn_growth");
  settings.held_out = options.get_double("held_out");
  settings.early_stopping = static_cast<int>(options.get_int("early_stopping"));
  settings.power = options.get_double("power");
  settings.least_weight = options.get_double("least_weight");
  settings.learn_every = static_cast<int>(options.get_int("learn_every"));
  settings.threads = static_cast<int>(options.get_int("threads"));
  settings.seed = static_cast<uint64_t>(options.get_int("seed"));
  return settings;
}

}  // namespace tunesmith::xgboost
