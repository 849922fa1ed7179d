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
      "collect", "draw tasks and programs, label them by the cost model, and write them as sequences");
  collect->footer("Example: tunesmith prior collect --output shard.jsonl --tasks 100");
  collect
      ->add_option("--output,-o", arguments.output,
                   "the shard to write; one that is there and was begun by the same options continues")
      ->required();
  collect->add_option("--tasks", arguments.tasks, "tasks to draw")
      ->capture_default_str()
      ->check(not_negative());
  collect->add_option("--programs", arguments.programs, "programs to draw of each task")
      ->capture_default_str()
      ->check(positive());
  collect->add_option("--suite", arguments.suites,
                      "files of suites around whose workloads tasks are drawn (default: the built-in suite)");
  collect->add_option("--store", arguments.stores,
                      "files of records whose measured programs are written, too");
  collect->add_option("--table", arguments.tables, "files of recorded tables whose programs are written, too")
      ->check(CLI::ExistingFile);
  collect->add_flag("--held-out", arguments.held_out,
                    "the tasks that nothing may be learned from, in place of the others");
  add_seed(*collect, arguments);
  add_common(*collect, common, true);
  collect->callback([&] { code = run_prior_collect(common, arguments); });
}

void add_prior_train(CLI::App* group, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* train =
      group->add_subcommand("train", "learn a prior over decisions from the best programs of shards");
  train->footer("Example: tunesmith prior train training.jsonl --output cpu.prior");
  train->add_option("shard", arguments.shards, "what `prior collect` wrote")->required();
  train->add_option("--output,-o", arguments.output, "the prior to write")->required();
  train->add_option("--elite", arguments.elite, "share of a task's programs that are learned, its fastest")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  train->add_option("--epochs", arguments.epochs, "times that each program is learned")
      ->capture_default_str()
      ->check(positive());
  add_seed(*train, arguments);
  add_common(*train, common, false);
  train->callback([&] { code = run_prior_train(common, arguments); });
}

void add_prior_eval(CLI::App* group, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* eval = group->add_subcommand(
      "eval", "compare the best of some draws by a prior with that of as many as the space draws");
  eval->footer("Example: tunesmith prior eval cpu.prior held-out.jsonl");
  eval->add_option("prior", arguments.prior, "what `prior train` wrote")->required();
  eval->add_option("shard", arguments.shards, "of held-out tasks")->required()->expected(1);
  eval->add_option("--draws", arguments.counts, "numbers of draws")
      ->delimiter(',')
      ->capture_default_str()
      ->check(positive());
  add_seed(*eval, arguments);
  add_common(*eval, common, true);
  eval->callback([&] { code = run_prior_eval(common, arguments); });
}

}  // namespace

void add_prior(CLI::App& app, Common& common, PriorArguments& arguments, int& code) {
  CLI::App* group = app.add_subcommand("prior", "what is learned of decisions before a task is tuned");
  group->require_subcommand(1);
  group->footer("Example: tunesmith prior collect --output shard.jsonl --tasks 100");
  add_prior_collect(group, common, arguments, code);
  add_prior_train(group, common, arguments, code);
  add_prior_eval(group, common, arguments, code);
}

}  // namespace tunesmith::cli
