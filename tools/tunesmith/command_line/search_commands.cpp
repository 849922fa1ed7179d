// The options of commands on searches: compare, and those on recorded tables.
#include "options.h"

namespace tunesmith::cli {

void add_compare(CLI::App& app, Common& common, CompareArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "compare", "compare ways of searching under equal conditions, live or on recorded tables");
  command->footer(
      "Example: tunesmith compare --table gmm.table.gz --spaces cpu-random,cpu --trials 256 --seeds 20");
  command->add_option("workload", arguments.workloads, "NAME:PARAM=VALUE,...: measured live");
  command->add_option("--table", arguments.tables,
                      "a recorded table: nothing is measured (may be given several times)");
  command
      ->add_option("--spaces", arguments.spaces,
                   "spaces to compare, with commas, the first is the baseline; a file of "
                   "spaces among them says where they are described")
      ->delimiter(',');
  command
      ->add_option(
          "--searchers", arguments.searchers,
          "searchers to compare, with commas, instead of several spaces: each with its default options "
          "in the one space")
      ->delimiter(',');
  add_positive(*command, "--trials", arguments.trials, "candidates of one search");
  add_positive(*command, "--batch", arguments.batch, "candidates that the searcher proposes at a time");
  add_positive(*command, "--seeds", arguments.seeds, "searches of each workload with each strategy");
  command->add_option("--results", arguments.results,
                      "a file to which each finished search is added; searches that it has are not repeated");
  add_runner(*command, arguments.runner);
  add_threads(*command, arguments.threads, "number of threads to measure with");
  add_candidate_time_out(*command, arguments.candidate_time_out, "one program");
  add_allow_memory(*command, arguments.allow_memory);
  add_common(*command, common, false);
  command->callback([&] { code = run_compare(common, arguments); });
}

void add_tables(CLI::App& app, Common& common, TablesArguments& arguments, TablesRecordArguments& recording,
                int& code) {
  CLI::App* group =
      add_group(app, "tables", "record and check tables: all programs of a space with their times",
                "tables show bench/tables/gmm.table.gz");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const TablesArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("table", arguments.files, "the file of a recorded table")->required();
    add_common(*command, common, false);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  add("show", "describe a table and the precision of its times", run_tables_show);
  add("check", "say which of a table's programs are still made as when it was recorded", run_tables_check);
  CLI::App* rehash =
      add("rehash", "write a table again under the programs that its traces make now", run_tables_rehash);
  rehash->get_option("table")->expected(1);
  rehash->add_option("--output,-o", arguments.output, "the file to write")->required();
  CLI::App* record = group->add_subcommand("record", "measure every program of a space, in several rounds");
  record->footer(
      "Example: tunesmith tables record gmm:n=512,m=512,k=512 --spaces bench/tables/spaces.yaml "
      "--space matmul --output gmm.table.gz");
  record->add_option("workload", recording.workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")
      ->required();
  auto* const output = record->add_option("--output,-o", recording.output, "the file to write");
  auto* const count =
      record->add_flag("--count", recording.count, "only say how many programs the space has");
  output->excludes(count);
  add_positive(*record, "--programs", recording.programs, "programs to measure at most");
  add_positive(*record, "--rounds", recording.rounds,
               "times that a program is measured at most: twice, and again until two times agree within 5 %");
  add_not_negative(*record, "--seed", recording.seed, "of the order in which programs are visited again");
  add_threads(*record, recording.threads, "number of threads to measure with");
  add_candidate_time_out(*record, recording.candidate_time_out, "one program");
  add_allow_memory(*record, recording.allow_memory);
  add_common(*record, common, true);
  record->callback([&] {
    if (recording.output.empty() && !recording.count) throw CLI::RequiredError("--output");
    code = run_tables_record(common, recording);
  });
}

}  // namespace tunesmith::cli
