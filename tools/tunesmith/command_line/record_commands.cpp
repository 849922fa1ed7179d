// The options of the commands for records.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_delete(CLI::App& command, RecordsArguments& arguments) {
  command.add_option("--workload", arguments.workload,
                     "of this workload: its text, or its name and some of its parameters");
  command.add_option("--task", arguments.task,
                     "of this task, by the id that `report` and `records show` print");
  command.add_option("--run", arguments.run, "that this run measured");
  command.add_flag("--yes,-y", arguments.yes, "do not ask");
}

}  // namespace

void add_records(CLI::App& app, Common& common, RecordsArguments& arguments, int& code) {
  CLI::App* group = add_group(app, "records", "work with the database of everything that was measured",
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
                        "only records of this workload: its text, or its name and some of its parameters");
    add_positive(*command, "--count", arguments.count, "how many to print");
  }
  add("show", "show all that is known of one record", run_records_show)
      ->add_option("record", arguments.record, "the record's id")
      ->required();
  CLI::App* export_command = add("export", "write records as JSON lines", run_records_export);
  export_command->add_option(
      "--workload", arguments.workload,
      "only records of this workload: its text, or its name and some of its parameters");
  export_command
      ->add_option(
          "--best", arguments.count,
          "only so many of the fastest programs of each task on this machine, as `records best` lists them, "
          "and those that its library has for intervals of its extents")
      ->check(positive())
      ->each([&arguments](const std::string&) { arguments.best = true; });
  export_command->add_option("--output,-o", arguments.file, "the file to write (default: standard output)");
  add("import", "read records from JSON lines", run_records_import)
      ->add_option("file", arguments.file, "the file to read (default: standard input)");
  add("merge", "add the records of another database", run_records_merge)
      ->add_option("other", arguments.file, "the other database")
      ->required();
  add("check", "check that no record is damaged", run_records_check);
  add_delete(*add("delete", "delete records for good, those that fit all that is said", run_records_delete),
             arguments);
}

}  // namespace tunesmith::cli
