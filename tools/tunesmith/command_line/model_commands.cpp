// The options of the commands for cost models in files.
#include "options.h"

namespace tunesmith::cli {

void add_model(CLI::App& app, Common& common, ModelArguments& arguments, int& code) {
  CLI::App* group = add_group(app, "model", "pre-train cost models, and say how good they are",
                              "model train records.db --model xgboost");
  const auto add_stores = [&](CLI::App* command) {
    command->add_option("store", arguments.stores,
                        "files of records (default: tunesmith/records.db in the user's data folder)");
    command
        ->add_option(
            "--table", arguments.tables,
            "a file of a recorded table: its programs, in place of the default store's or beside those "
            "of the stores that are given")
        ->check(CLI::ExistingFile);
    command->add_option("--model", arguments.model,
                        "the cost model, with its default options (default: the space's)");
    add_common(*command, common, true);
  };
  CLI::App* train = group->add_subcommand("train", "let a cost model learn from records, and save it");
  train->footer("Example: tunesmith model train records.db --model xgboost --output ahead.model");
  add_stores(train);
  train->add_option("--output,-o", arguments.file,
                    "the file to write (default: beside the first store, STORE.MODEL.model)");
  train->add_option("--workload", arguments.workloads,
                    "learn from these tasks alone: a workload's text, or its name and some parameters");
  train->add_option("--except", arguments.except, "do not learn from these tasks");
  train->callback([&] { code = run_model_train(common, arguments); });

  CLI::App* show = group->add_subcommand("show", "show what a saved cost model has learned from");
  show->footer("Example: tunesmith model show ahead.model");
  show->add_option("file", arguments.file, "the cost model's file")->required();
  add_positive(*show, "--count", arguments.count, "how many features to print, the most important first");
  add_common(*show, common, true);
  show->callback([&] { code = run_model_show(common, arguments); });

  CLI::App* eval = group->add_subcommand(
      "eval", "say how well a cost model orders programs on record that it has not learned from");
  eval->footer("Example: tunesmith model eval records.db --model xgboost --measured 0,128,512");
  add_stores(eval);
  eval->add_option("--workload", arguments.workloads,
                   "the tasks to evaluate; the model is pre-trained on the others (default: all, in turn)");
  add_not_negative(*eval, "--measured", arguments.counts,
                   "how many programs of the task the model learns from before it orders the others")
      ->delimiter(',');
  eval->add_flag("--alone", arguments.alone, "learn nothing of the other tasks");
  add_not_negative(*eval, "--seed", arguments.seed, "seed of the random numbers that hold programs out");
  eval->callback([&] { code = run_model_eval(common, arguments); });
}

}  // namespace tunesmith::cli
