// The options of the commands for whole networks.
#include <fmt/format.h>

#include "options.h"

namespace tunesmith::cli {
namespace {

void add_dimensions(CLI::App& command, NetworkArguments& arguments) {
  command.add_option("--dim", arguments.dimensions,
                     "the value of a named extent, such as batch=1, or its range: batch=1..16, "
                     "batch=1..16:typical=2,8; may be repeated");
}

void add_operators(CLI::App& command, std::vector<std::string>& operators) {
  command.add_option("--operators", operators,
                     "a workload file with the key 'operator', or a folder of such files: operators that the "
                     "importer does not know; may be repeated");
}

void add_library_files(CLI::App& command, NetworkArguments& arguments) {
  command.add_option(
      "--output,-o", arguments.output,
      "the folder that receives the library, its header, its weights and a main program (default: this one)");
  command.add_option("--name", arguments.name,
                     "of the library and its functions (default: from the file's name)");
}

/// Commands on a network's file.
void add_file_commands(CLI::App& group, Common& common, NetworkArguments& arguments, int& code) {
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const NetworkArguments&)) -> CLI::App& {
    CLI::App* command = group.add_subcommand(name, help);
    command->footer(std::string("Example: tunesmith network ") + name + " model.onnx");
    command->add_option("file", arguments.file, "the file of the network")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return *command;
  };
  CLI::App& import =
      add("import", "check that a network can be read, and print its inputs, outputs, operators and weights",
          run_network_import);
  CLI::App& show =
      add("show", "print a network: its inputs, nodes and results, one per line", run_network_show);
  CLI::Option* const passes =
      show.add_flag("--passes", arguments.passes,
                    "also print the network after each pass, and the kernels that become of it");
  show.add_flag("--dot", arguments.dot,
                "print the kernels, with their nodes and what passes between them, as a graph for Graphviz")
      ->excludes(passes);
  CLI::App& tasks =
      add("tasks", "print what a network's kernels are, and write them as a list of workloads to tune",
          run_network_tasks);
  CLI::App& build =
      add("build", "build a network's library from the records of its tasks", run_network_build);
  for (CLI::App* command : {&import, &show, &tasks, &build}) {
    add_dimensions(*command, arguments);
    add_operators(*command, arguments.operators);
  }
  tasks.add_option("--output,-o", arguments.output,
                   "the folder that receives a file for each task, and tasks.yaml");
  add_library_files(build, arguments);
  build.add_option("--threads", arguments.threads, "that the tasks were tuned for (default: all processors)");
  CLI::Option* const unscheduled =
      build.add_flag("--unscheduled", arguments.unscheduled,
                     "take programs without a schedule, which are slow, for tasks that have no record");
  CLI::Option* const untuned =
      add_untuned(build, arguments.untuned, arguments.draws, "for tasks that have no record")
          ->excludes(unscheduled);
  build
      .add_flag("--in-place", arguments.in_place,
                "choose among the five best programs of each task by their times inside the library")
      ->excludes(unscheduled)
      ->excludes(untuned);
  add_database(build, arguments.database);
}

/// Tunes all tasks and builds the library.
void add_network_tune(CLI::App& group, Common& common, NetworkTuneArguments& arguments, int& code) {
  CLI::App* command =
      group.add_subcommand("tune", "tune all tasks of a network under one budget, and build its library");
  command->footer("Example: tunesmith network tune model.onnx --minutes 10 --output built");
  command->add_option("file", arguments.network.file, "the file of the network")->required();
  add_dimensions(*command, arguments.network);
  add_operators(*command, arguments.network.operators);
  add_library_files(*command, arguments.network);
  add_task_budget(*command, arguments.tune);
  add_common(*command, common, true);
  command->callback([&] {
    arguments.network.threads = arguments.tune.threads;
    arguments.network.database = arguments.tune.database;
    code = run_network_tune(common, arguments);
  });
}

/// A command on the folder of a built library.
template <typename Arguments>
CLI::App& add_library_command(CLI::App& group, Common& common, const char* name, const char* help,
                              Arguments& arguments, int (*run)(const Common&, const Arguments&), int& code) {
  CLI::App* command = group.add_subcommand(name, help);
  command->footer(std::string("Example: tunesmith network ") + name + " built");
  command->add_option("folder", arguments.folder, "the folder that `network build` wrote")->required();
  add_common(*command, common, true);
  command->callback([&, run] { code = run(common, arguments); });
  return *command;
}

template <typename Arguments>
void add_values(CLI::App& command, Arguments& arguments, const char* otherwise) {
  command.add_option("--dim", arguments.dimensions,
                     fmt::format("the value of an extent that varies, such as batch=7; may be repeated "
                                 "(default: {})",
                                 otherwise));
}

template <typename Arguments>
void add_random_inputs(CLI::App& command, Arguments& arguments) {
  add_not_negative(command, "--seed", arguments.seed, "of the random inputs");
  add_positive(command, "--integers", arguments.integers, "random integers are from 0 to below this");
}

void add_library_commands(CLI::App& group, Common& common, AllNetworkArguments& arguments, int& code) {
  CLI::App& verify = add_library_command(
      group, common, "verify", "run a built library and check each step by what the library itself gave it",
      arguments.verify, run_network_verify, code);
  verify.add_option("--model", arguments.verify.model,
                    "the network's file (default: the one that the library was built of)");
  add_positive(verify, "--calls", arguments.verify.calls, "with as many seeds, one after the other");
  add_values(verify, arguments.verify, "typical ones, both ends, a prime and a drawn one");
  add_random_inputs(verify, arguments.verify);
  CLI::App& run = add_library_command(group, common, "run", "run a built library on files or random inputs",
                                      arguments.run, run_network_run, code);
  run.add_option("--input", arguments.run.inputs,
                 "a tensor's file, .npy or .pb; one for each input, in their order (default: random inputs)");
  add_values(run, arguments.run, "the inputs', or the highest");
  run.add_option("--output,-o", arguments.run.output, "the folder that receives output_0.npy and so on");
  add_random_inputs(run, arguments.run);
  CLI::App& bench = add_library_command(
      group, common, "bench",
      "time a built library: a call, each of its steps, and what waiting for threads costs", arguments.bench,
      run_network_bench, code);
  add_positive(bench, "--calls", arguments.bench.calls, "that are timed");
  add_values(bench, arguments.bench, "the highest");
  bench.add_option("--threads", arguments.bench.threads, "that run parallel loops (default: all processors)")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void add_network(CLI::App& app, Common& common, AllNetworkArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "network", "read whole networks, such as ONNX files", "network import model.onnx");
  add_file_commands(*group, common, arguments.network, code);
  add_network_tune(*group, common, arguments.tune, code);
  add_library_commands(*group, common, arguments, code);
  NetworkTestArguments& tests = arguments.test;
  CLI::App* test = group->add_subcommand(
      "test", "run folders of ONNX's test format: a model.onnx with data for inputs and outputs");
  test->footer("Example: tunesmith network test /usr/share/libonnx-testdata/data/node");
  test->add_option("folders", tests.folders, "folders of tests, or folders with such folders below")
      ->required();
  add_operators(*test, tests.operators);
  CLI::Option* const interpret =
      test->add_flag("--interpret", tests.interpret, "interpret the models: no code is compiled");
  test->add_flag("--build", tests.build, "build each model's library, and run that")->excludes(interpret);
  test->add_option("--processes", tests.processes, "that run tests at once (default: one for each processor)")
      ->check(CLI::PositiveNumber);
  test->add_flag("-v,--verbose", tests.verbose, "print each folder's result");
  add_common(*test, common, true);
  test->callback([&] { code = run_network_test(common, tests); });
}

}  // namespace tunesmith::cli
