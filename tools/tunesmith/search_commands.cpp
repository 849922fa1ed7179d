// The options of the commands that are about searches: compare, and those on recorded tables.
#include <CLI/CLI.hpp>

#include "options.h"

namespace tunesmith::cli {
namespace {

void add_measuring(CLI::App& command, int& threads, double& time_out, bool& allow_memory) {
  command.add_option("--threads", threads, "number of threads to measure with; 0 = one for each processor")
      ->capture_default_str()
      ->check(not_negative());
  command.add_option("--candidate-time-out", time_out, "seconds that one program may take")
      ->capture_default_str()
      ->check(positive());
  command.add_flag("--allow-memory", allow_memory,
                   "continue although measuring takes more memory than is available");
}

}  // namespace

void add_compare(CLI::App& app, Common& common, CompareArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand(
      "compare", "compare ways of searching under equal conditions, live or on recorded tables");
  command->footer(
      "Example: tunesmith compare --table gmm.table.gz --spaces cpu-random,cpu --trials 256 --seeds 20");
  command->add_option("workload", arguments.workloads, "NAME:PARAM=VALUE,...: measured live");
  command->add_option("--table", arguments.tables,
                      "a recorded table: nothing is measured (may be given several times)");
  command
      ->add_option(
          "--spaces", arguments.spaces,
          "spaces to compare, with commas, the first is what the others are compared with; a file of "
          "spaces among them says where they are described")
      ->delimiter(',');
  command
      ->add_option(
          "--searchers", arguments.searchers,
          "searchers to compare, with commas, instead of several spaces: each with its default options "
          "in the one space")
      ->delimiter(',');
  command->add_option("--trials", arguments.trials, "candidates of one search")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--batch", arguments.batch, "candidates that the searcher proposes at a time")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--seeds", arguments.seeds, "searches of each workload with each strategy")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--results", arguments.results,
                      "a file to which each finished search is added; searches that it has are not repeated");
  add_measuring(*command, arguments.threads, arguments.candidate_time_out, arguments.allow_memory);
  add_common(*command, common, false);
  command->callback([&] { code = run_compare(common, arguments); });
}

void add_tables(CLI::App& app, Common& common, TablesArguments& arguments, TablesRecordArguments& recording,
                int& code) {
  CLI::App* group =
      app.add_subcommand("tables", "record and check tables: all programs of a space with their times");
  group->require_subcommand(1);
  group->footer("Example: tunesmith tables show bench/tables/gmm.table.gz");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const TablesArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("table", arguments.files, "the file of a recorded table")->required();
    add_common(*command, common, false);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  add("show", "say what a table holds, and how exact its times are", run_tables_show);
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
  record->add_option("--programs", recording.programs, "programs to measure at most")
      ->capture_default_str()
      ->check(positive());
  record
      ->add_option(
          "--rounds", recording.rounds,
          "times that a program is measured at most: twice, and again until two times agree within 5 %")
      ->capture_default_str()
      ->check(positive());
  record->add_option("--seed", recording.seed, "of the order in which programs are visited again")
      ->capture_default_str()
      ->check(not_negative());
  add_measuring(*record, recording.threads, recording.candidate_time_out, recording.allow_memory);
  add_common(*record, common, true);
  record->callback([&] {
    if (recording.output.empty() && !recording.count) throw CLI::RequiredError("--output");
    code = run_tables_record(common, recording);
  });
}

}  // namespace tunesmith::cli
