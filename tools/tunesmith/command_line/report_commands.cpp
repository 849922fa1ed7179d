// The options of `report`.
#include <nlohmann/json.hpp>

#include "options.h"

namespace tunesmith::cli {

void add_report(CLI::App& app, Common& common, ReportArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("report", "write an HTML report of measurements: progress, failures, best programs");
  command->footer("Example: tunesmith report --workload gmm -o report.html");
  CLI::Option* const store = command->add_option(
      "store", arguments.store, "record store (default: tunesmith/records.db in the user's data folder)");
  command->add_option("--database", arguments.database, "the same")->excludes(store);
  CLI::Option* const page = command->add_option("--output,-o", arguments.output,
                                                "output file (default: report.html; with --json none)");
  command
      ->add_option("--follow", arguments.follow,
                   "serve the report at HOST:PORT (default: 127.0.0.1 and a free port) with live updates "
                   "until Ctrl-C; includes the workers of TUNESMITH_BROKER")
      ->expected(0, 1)
      ->default_str("127.0.0.1:0")
      ->excludes(page);
  command
      ->add_option("--workload", arguments.workloads,
                   "only this workload: its text, or its name and some parameters (may be repeated)")
      ->allow_extra_args(false);
  command
      ->add_option("--task", arguments.tasks,
                   "only the task with this id, as shown by a report (may be repeated)")
      ->allow_extra_args(false);
  command->add_option("--run", arguments.runs, "only this run (may be repeated)")->allow_extra_args(false);
  command
      ->add_option("--comparison", arguments.comparisons,
                   "also show a comparison: output file of 'compare --json' (may be repeated)")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--network", arguments.networks,
          "also show a network's time breakdown: output file of 'network bench --json' (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag(
      "--measure-roofs", arguments.measure_roofs,
      "first measure this machine's peak arithmetic rate and memory bandwidth for the roofline");
  add_common(*command, common, true);
  arguments.fleet = [] { return fleet_now({}); };
  command->callback([&] { code = run_report(common, arguments); });
}

}  // namespace tunesmith::cli
