// The options of the commands for records.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_delete(CLI::App& command, RecordsArguments& arguments) {
  command.add_option("--workload", arguments.workload,
                     "of this workload: its text, or its name and some parameters");
  command.add_option("--task", arguments.task,
                     "of the task with this id, as printed by `report` and `records show`");
  command.add_option("--run", arguments.run, "of this run");
  command.add_flag("--yes,-y", arguments.yes, "delete without confirmation");
}

}  // namespace

void add_records(CLI::App& app, Common& common, RecordsArguments& arguments, int& code) {
  CLI::App* group = add_group(app, "records", "query and maintain the record store",
                              "records best --workload gmm:n=512,m=512,k=512");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const RecordsArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    add_database(*command, arguments.database);
    add_common(*command, common, false);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  for (CLI::App* command :
       {add("best", "list the best programs of each task on this machine", run_records_best),
        add("list", "list the latest records", run_records_list)}) {
    command->add_option("--workload", arguments.workload,
                        "only records of this workload: its text, or its name and some parameters");
    add_positive(*command, "--count", arguments.count, "number of rows to print");
  }
  add("show", "show one record in full", run_records_show)
      ->add_option("record", arguments.record, "the record's id")
      ->required();
  CLI::App* export_command = add("export", "export records as JSON lines", run_records_export);
  export_command->add_option("--workload", arguments.workload,
                             "only records of this workload: its text, or its name and some parameters");
  export_command
      ->add_option("--best", arguments.count,
                   "only this number of the fastest programs of each task on this machine, in the order of "
                   "`records best`, and the programs that its library uses for intervals of its extents")
      ->check(positive())
      ->each([&arguments](const std::string&) { arguments.best = true; });
  export_command->add_option("--output,-o", arguments.file, "output file (default: standard output)");
  add("import", "import records from JSON lines", run_records_import)
      ->add_option("file", arguments.file, "input file (default: standard input)");
  add("merge", "import the records of another store", run_records_merge)
      ->add_option("other", arguments.file, "the other record store")
      ->required();
  add("check", "check the store for damaged records", run_records_check);
  add_delete(*add("delete", "delete the records that match all given options", run_records_delete),
             arguments);
}

}  // namespace tunesmith::cli
