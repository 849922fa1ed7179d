// The options of the commands for cost models in files.
#include "options.h"

namespace tunesmith::cli {

void add_model(CLI::App& app, Common& common, ModelArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "model", "train and evaluate cost models", "model train records.db --model xgboost");
  const auto add_stores = [&](CLI::App* command) {
    command->add_option("store", arguments.stores,
                        "record stores (default: tunesmith/records.db in the user's data folder)");
    command
        ->add_option("--table", arguments.tables,
                     "recorded table whose programs are used in addition to the given stores, or instead of "
                     "the default store")
        ->check(CLI::ExistingFile);
    command->add_option("--model", arguments.model,
                        "cost model to use with its default options (default: the space's)");
    add_common(*command, common, true);
  };
  CLI::App* train = group->add_subcommand("train", "train a cost model on records and save it");
  train->footer("Example: tunesmith model train records.db --model xgboost --output ahead.model");
  add_stores(train);
  train->add_option("--output,-o", arguments.file,
                    "output file (default: STORE.MODEL.model beside the first store)");
  train->add_option(
      "--workload", arguments.workloads,
      "train only on tasks of this workload: its text, or its name and some parameters (may be repeated)");
  train->add_option("--except", arguments.except,
                    "exclude tasks of this workload from training (may be repeated)");
  train->callback([&] { code = run_model_train(common, arguments); });

  CLI::App* show =
      group->add_subcommand("show", "show a saved cost model's training tasks and feature importance");
  show->footer("Example: tunesmith model show ahead.model");
  show->add_option("file", arguments.file, "the cost model's file")->required();
  add_positive(*show, "--count", arguments.count, "number of features to print, most important first");
  add_common(*show, common, true);
  show->callback([&] { code = run_model_show(common, arguments); });

  CLI::App* eval = group->add_subcommand(
      "eval", "evaluate how well a cost model ranks recorded programs that it was not trained on");
  eval->footer("Example: tunesmith model eval records.db --model xgboost --measured 0,128,512");
  add_stores(eval);
  eval->add_option("--workload", arguments.workloads,
                   "tasks to evaluate, with the model pre-trained on the others (default: each in turn)");
  add_not_negative(*eval, "--measured", arguments.counts,
                   "numbers of the task's programs to train on before the remaining programs are ranked")
      ->delimiter(',');
  eval->add_flag("--alone", arguments.alone, "do not pre-train on the other tasks");
  add_not_negative(*eval, "--seed", arguments.seed,
                   "random seed of the split into training and held-out programs");
  eval->callback([&] { code = run_model_eval(common, arguments); });
}

}  // namespace tunesmith::cli
