// The options of commands on searches: compare, and those on recorded tables.
#include "options.h"

namespace tunesmith::cli {

void add_compare(CLI::App& app, Common& common, CompareArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "compare", "compare search strategies under equal conditions, live or on recorded tables");
  command->footer(
      "Example: tunesmith compare --table gmm.table.gz --spaces cpu-random,cpu --trials 256 --seeds 20");
  command->add_option("workload", arguments.workloads, "NAME:PARAM=VALUE,..., measured live");
  command->add_option("--table", arguments.tables,
                      "recorded table to search instead of measuring (may be repeated)");
  command
      ->add_option("--spaces", arguments.spaces,
                   "spaces to compare, separated by commas, the baseline first; may include the spaces file "
                   "that defines them")
      ->delimiter(',');
  command
      ->add_option("--searchers", arguments.searchers,
                   "searchers to compare in one space, each with its default options, separated by commas")
      ->delimiter(',');
  add_positive(*command, "--trials", arguments.trials, "number of candidates per search");
  add_positive(*command, "--batch", arguments.batch, "number of candidates per round");
  add_positive(*command, "--seeds", arguments.seeds,
               "number of searches of each workload with each strategy");
  command->add_option("--results", arguments.results,
                      "file to append finished searches to; searches already in it are not repeated");
  add_runner(*command, arguments.runner);
  add_threads(*command, arguments.threads, "number of threads that run candidates");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, false);
  command->callback([&] { code = run_compare(common, arguments); });
}

void add_tables(CLI::App& app, Common& common, TablesArguments& arguments, TablesRecordArguments& recording,
                int& code) {
  CLI::App* group =
      add_group(app, "tables", "record and check tables of all programs of a space and their times",
                "tables show bench/tables/gmm.table.gz");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const TablesArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("table", arguments.files, "recorded table")->required();
    add_common(*command, common, false);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  add("show", "show a table and the precision of its times", run_tables_show);
  add("check", "check which of a table's traces still give the recorded programs", run_tables_check);
  CLI::App* rehash =
      add("rehash", "rewrite a table with the programs that its traces give now", run_tables_rehash);
  rehash->get_option("table")->expected(1);
  rehash->add_option("--output,-o", arguments.output, "output file")->required();
  CLI::App* record = group->add_subcommand("record", "measure every program of a space in several rounds");
  record->footer(
      "Example: tunesmith tables record gmm:n=512,m=512,k=512 --spaces bench/tables/spaces.yaml "
      "--space matmul --output gmm.table.gz");
  record->add_option("workload", recording.workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")
      ->required();
  auto* const output = record->add_option("--output,-o", recording.output, "output file");
  auto* const count =
      record->add_flag("--count", recording.count, "only print the number of programs in the space");
  output->excludes(count);
  add_positive(*record, "--programs", recording.programs, "maximum number of programs to measure");
  add_positive(
      *record, "--rounds", recording.rounds,
      "maximum number of measurements per program; the minimum is two, repeated until two agree within 5 %");
  add_not_negative(*record, "--seed", recording.seed, "random seed of the order of repeated measurements");
  add_threads(*record, recording.threads, "number of threads that run candidates");
  add_candidate_time_out(*record, recording.candidate_time_out, "one program");
  add_allow_memory(*record, recording.allow_memory);
  add_common(*record, common, true);
  record->callback([&] {
    if (recording.output.empty() && !recording.count) throw CLI::RequiredError("--output");
    code = run_tables_record(common, recording);
  });
}

}  // namespace tunesmith::cli
