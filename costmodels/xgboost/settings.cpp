#include "settings.h"

namespace tunesmith::xgboost {

std::vector<OptionSpec> option_specs(const Settings& preset) {
  return {
      OptionSpec::integer("max_depth", preset.max_depth, 1, 16, "of a tree"),
      OptionSpec::real("eta", preset.eta, 1e-3, 1.0, "share of a tree's correction that is taken"),
      OptionSpec::real("lambda", preset.lambda, 0.0, 1e6,
                       "programs of weight 1 without an error, as which each leaf begins"),
      OptionSpec::real("gamma", preset.gamma, 0.0, 1e3, "least gain of a split"),
      OptionSpec::real("min_child_weight", preset.min_child_weight, 0.0, 1e6, "least weight of a leaf"),
      OptionSpec::real("column_share", preset.column_share, 0.01, 1.0,
                       "of the features that a tree may look at"),
      OptionSpec::integer("trees", preset.trees, 1, 10000, "at most, when retraining"),
      OptionSpec::integer("more_trees", preset.more_trees, 1, 10000, "at most, when updating"),
      OptionSpec::integer("learn_every", preset.learn_every, 2, 1 << 20,
                          "programs, and a sixteenth of those that there are; others wait"),
      OptionSpec::real("relearn_growth", preset.relearn_growth, 1.0, 1e6,
                       "retrain when the number of programs has grown by this factor, else update"),
      OptionSpec::integer("most_programs", preset.most_programs, 2, 1 << 20,
                          "of a task that are learned from: the fastest, and as many others"),
      OptionSpec::real("held_out", preset.held_out, 0.0, 0.5, "share of the programs that say when to stop"),
      OptionSpec::integer("early_stopping", preset.early_stopping, 1, 10000,
                          "trees that do not improve on the programs held out"),
      OptionSpec::real("weight_power", preset.weight_power, 0.0, 4.0,
                       "of the throughput, which a program's error is weighted with"),
      OptionSpec::real("least_weight", preset.least_weight, 0.0, 1.0,
                       "of a program's error; that of the fastest has 1"),
      OptionSpec::integer("threads", preset.threads, 1, 1024, "that train and predict"),
      OptionSpec::integer("seed", 0, 0, 1 << 30, "of what trees look at, and of what is held out"),
      OptionSpec::string("model_file", "",
                         "pre-trained by 'tunesmith model train', beside the spaces file; what is learned "
                         "continues from there"),
  };
}

Settings settings_of(const Options& options) {
  Settings settings;
  settings.max_depth = static_cast<int>(options.get_int("max_depth"));
  settings.eta = options.get_double("eta");
  settings.lambda = options.get_double("lambda");
  settings.gamma = options.get_double("gamma");
  settings.min_child_weight = options.get_double("min_child_weight");
  settings.column_share = options.get_double("column_share");
  settings.trees = static_cast<int>(options.get_int("trees"));
  settings.more_trees = static_cast<int>(options.get_int("more_trees"));
  settings.learn_every = static_cast<int>(options.get_int("learn_every"));
  settings.relearn_growth = options.get_double("relearn_growth");
  settings.most_programs = static_cast<int>(options.get_int("most_programs"));
  settings.held_out = options.get_double("held_out");
  settings.early_stopping = static_cast<int>(options.get_int("early_stopping"));
  settings.weight_power = options.get_double("weight_power");
  settings.least_weight = options.get_double("least_weight");
  settings.threads = static_cast<int>(options.get_int("threads"));
  settings.seed = static_cast<uint64_t>(options.get_int("seed"));
  return settings;
}

}  // namespace tunesmith::xgboost
