// The options of the commands for priors over decisions.
#include "options.h"

namespace tunesmith::cli {

namespace {

void add_seed(CLI::App& command, PriorArguments& arguments) {
  command.add_option("--seed", arguments.seed, "seed of the random numbers")
      ->capture_default_str()
      ->check(not_negative());
}

void add_prior_collect(CLI::App* group, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* collect = group->add_subcommand(
      "collect", "draw tasks and programs, label them with the cost model and write them as token sequences");
  collect->footer("Example: tunesmith prior collect --output shard.jsonl --tasks 100");
  collect
      ->add_option("--output,-o", arguments.output,
                   "output shard; an existing shard written with the same options is continued")
      ->required();
  collect->add_option("--tasks", arguments.tasks, "number of tasks to draw")
      ->capture_default_str()
      ->check(not_negative());
  collect->add_option("--programs", arguments.programs, "number of programs to draw for each task")
      ->capture_default_str()
      ->check(positive());
  collect->add_option("--suite", arguments.suites,
                      "suite files whose workloads tasks are drawn around (default: the built-in suite)");
  collect->add_option("--store", arguments.stores, "record stores whose measured programs are also written");
  collect->add_option("--table", arguments.tables, "recorded tables whose programs are also written")
      ->check(CLI::ExistingFile);
  collect->add_flag("--held-out", arguments.held_out,
                    "write the held-out tasks instead of the training tasks");
  add_seed(*collect, arguments);
  add_common(*collect, common, true);
  collect->callback([&] { code = run_prior_collect(common, arguments); });
}

void add_prior_train(CLI::App* group, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* train =
      group->add_subcommand("train", "train a prior over decisions on the best programs of shards");
  train->footer("Example: tunesmith prior train training.jsonl --output cpu.prior");
  train->add_option("shard", arguments.shards, "shard written by `prior collect`")->required();
  train->add_option("--output,-o", arguments.output, "output file for the prior")->required();
  train->add_option("--elite", arguments.elite, "share of each task's programs to train on, fastest first")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  train->add_option("--epochs", arguments.epochs, "number of training epochs")
      ->capture_default_str()
      ->check(positive());
  add_seed(*train, arguments);
  add_common(*train, common, false);
  train->callback([&] { code = run_prior_train(common, arguments); });
}

void add_prior_eval(CLI::App* group, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* eval = group->add_subcommand(
      "eval", "compare the best of some draws from a prior with the best of as many draws from the space");
  eval->footer("Example: tunesmith prior eval cpu.prior held-out.jsonl");
  eval->add_option("prior", arguments.prior, "prior written by `prior train`")->required();
  eval->add_option("shard", arguments.shards, "shard of held-out tasks")->required()->expected(1);
  eval->add_option("--draws", arguments.counts, "numbers of draws to compare")
      ->delimiter(',')
      ->capture_default_str()
      ->check(positive());
  add_seed(*eval, arguments);
  add_common(*eval, common, true);
  eval->callback([&] { code = run_prior_eval(common, arguments); });
}

}  // namespace

void add_prior(CLI::App& app, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* group = app.add_subcommand("prior", "train and evaluate priors over sampling decisions");
  group->require_subcommand(1);
  group->footer("Example: tunesmith prior collect --output shard.jsonl --tasks 100");
  add_prior_collect(group, common, arguments, code);
  add_prior_train(group, common, arguments, code);
  add_prior_eval(group, common, arguments, code);
}

}  // namespace tunesmith::cli
