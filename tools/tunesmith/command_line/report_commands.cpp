// The options of `report`.
#include <nlohmann/json.hpp>

#include "options.h"

namespace tunesmith::cli {

void add_report(CLI::App& app, Common& common, ReportArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "report", "write a page that shows what was measured: progress, failures, the best programs");
  command->footer("Example: tunesmith report --workload gmm -o report.html");
  CLI::Option* const store = command->add_option(
      "store", arguments.store,
      "the file of the records (default: tunesmith/records.db in the user's data folder)");
  command->add_option("--database", arguments.database, "the same")->excludes(store);
  CLI::Option* const page = command->add_option("--output,-o", arguments.output,
                                                "the page to write (default: report.html; with --json none)");
  command
      ->add_option("--follow", arguments.follow,
                   "serve the page at HOST:PORT (default: 127.0.0.1 and a free port) and keep it up to date "
                   "with a run, until Ctrl-C; with the workers of TUNESMITH_BROKER")
      ->expected(0, 1)
      ->default_str("127.0.0.1:0")
      ->excludes(page);
  command
      ->add_option("--workload", arguments.workloads,
                   "only this workload: its text, or its name and some of its parameters; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--task", arguments.tasks,
                   "only this task, by the id that a report shows; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--run", arguments.runs, "only what this run measured; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--comparison", arguments.comparisons,
                   "also show a comparison: a file that 'compare --json' has printed; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--network", arguments.networks,
                   "also show where a network's time goes: a file that 'network bench --json' has printed; "
                   "may be repeated")
      ->allow_extra_args(false);
  command->add_flag(
      "--measure-roofs", arguments.measure_roofs,
      "first measure the peak of operations and the bandwidth of memory on this machine, for the roofline");
  add_common(*command, common, true);
  arguments.fleet = [] { return fleet_now({}); };
  command->callback([&] { code = run_report(common, arguments); });
}

}  // namespace tunesmith::cli
