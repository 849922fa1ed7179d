// The options of the commands for whole networks.
#include <CLI/CLI.hpp>

#include "options.h"

namespace tunesmith::cli {

void add_network(CLI::App& app, Common& common, NetworkArguments& arguments, NetworkTestArguments& tests,
                 int& code) {
  CLI::App* group = app.add_subcommand("network", "read whole networks, such as ONNX files");
  group->require_subcommand(1);
  group->footer("Example: tunesmith network import model.onnx");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const NetworkArguments&)) -> CLI::App& {
    CLI::App* command = group->add_subcommand(name, help);
    command->footer(std::string("Example: tunesmith network ") + name + " model.onnx");
    command->add_option("file", arguments.file, "the file of the network")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return *command;
  };
  add("import", "check that a network can be read, and print its inputs, outputs, operators and weights",
      run_network_import);
  add("show", "print a network: what it is given, its nodes and its results, one a line", run_network_show);
  CLI::App& tasks =
      add("tasks", "print what a network's kernels are, and write them as a list of workloads to tune",
          run_network_tasks);
  CLI::App& build =
      add("build", "build a network's library from the records of its tasks", run_network_build);
  for (CLI::App* command : {&tasks, &build})
    command->add_option("--dim", arguments.dimensions,
                        "the value of a named extent, such as batch=1; may be repeated");
  tasks.add_option("--output", arguments.output,
                   "the folder that receives a file for each task, and tasks.yaml");
  build.add_option(
      "--output", arguments.output,
      "the folder that receives the library, its header, its weights and a main program (default: this one)");
  build.add_option("--name", arguments.name,
                   "of the library and its functions (default: from the file's name)");
  build.add_option("--threads", arguments.threads, "that the tasks were tuned for (default: all processors)");
  build.add_option("--database", arguments.database,
                   "the file of the records (default: tunesmith/records.db in the user's data folder)");
  CLI::App* test = group->add_subcommand(
      "test", "run folders of ONNX's test format: a model.onnx with data for inputs and outputs");
  test->footer("Example: tunesmith network test /usr/share/libonnx-testdata/data/node");
  test->add_option("folders", tests.folders, "folders of tests, or folders with such folders below")
      ->required();
  test->add_flag("-v,--verbose", tests.verbose, "print each folder's result");
  add_common(*test, common, true);
  test->callback([&] { code = run_network_test(common, tests); });
}

}  // namespace tunesmith::cli
