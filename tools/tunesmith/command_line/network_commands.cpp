// The options of the commands for whole networks.
#include <fmt/format.h>

#include "options.h"

namespace tunesmith::cli {
namespace {

void add_dimensions(CLI::App& command, NetworkArguments& arguments) {
  command.add_option(
      "--dim", arguments.dimensions,
      "value or range of a named extent: batch=1, batch=1..16, batch=1..16:typical=2,8 (may be repeated)");
}

void add_operators(CLI::App& command, std::vector<std::string>& operators) {
  command.add_option("--operators", operators,
                     "workload file with the key 'operator', or folder of such files, that defines operators "
                     "unknown to the importer (may be repeated)");
}

void add_library_files(CLI::App& command, NetworkArguments& arguments) {
  command.add_option(
      "--output,-o", arguments.output,
      "output folder for the library, its header, weights and a main program (default: the current folder)");
  command.add_option("--name", arguments.name,
                     "name of the library and prefix of its functions (default: from the file's name)");
}

/// Commands on a network's file.
void add_file_commands(CLI::App& group, Common& common, NetworkArguments& arguments, int& code) {
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const NetworkArguments&)) -> CLI::App& {
    CLI::App* command = group.add_subcommand(name, help);
    command->footer(std::string("Example: tunesmith network ") + name + " model.onnx");
    command->add_option("file", arguments.file, "network file")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return *command;
  };
  CLI::App& import = add("import", "import a network and print its inputs, outputs, operators and weights",
                         run_network_import);
  import.add_flag("--outline", arguments.outline,
                  "also print the nodes with their inferred types, and why nodes are refused");
  CLI::App& show = add("show", "print a network's inputs, nodes and results, one per line", run_network_show);
  CLI::Option* const passes =
      show.add_flag("--passes", arguments.passes, "also print the network after each pass, and its kernels");
  show.add_flag("--dot", arguments.dot, "print the graph of kernels, nodes and tensors for Graphviz")
      ->excludes(passes);
  CLI::App& tasks =
      add("tasks", "list a network's kernels and write them as workloads to tune", run_network_tasks);
  CLI::App& build =
      add("build", "build a network's library from the records of its tasks", run_network_build);
  for (CLI::App* command : {&import, &show, &tasks, &build}) {
    add_dimensions(*command, arguments);
    add_operators(*command, arguments.operators);
  }
  tasks.add_option("--output,-o", arguments.output, "output folder for a file per task and tasks.yaml");
  add_library_files(build, arguments);
  build.add_option("--threads", arguments.threads,
                   "number of threads that the tasks were tuned for (default: all processors)");
  CLI::Option* const unscheduled =
      build.add_flag("--unscheduled", arguments.unscheduled,
                     "use unscheduled programs, which are slow, for tasks without a record");
  CLI::Option* const untuned =
      add_untuned(build, arguments.untuned, arguments.draws, "for tasks without a record")
          ->excludes(unscheduled);
  build
      .add_flag("--in-place", arguments.in_place,
                "choose among the five best programs of each task by their times inside the network")
      ->excludes(unscheduled)
      ->excludes(untuned);
  add_database(build, arguments.database);
}

/// Tunes all tasks and builds the library.
void add_network_tune(CLI::App& group, Common& common, NetworkTuneArguments& arguments, int& code) {
  CLI::App* command =
      group.add_subcommand("tune", "tune all tasks of a network under one budget and build its library");
  command->footer("Example: tunesmith network tune model.onnx --minutes 10 --output built");
  command->add_option("file", arguments.network.file, "network file")->required();
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
  command->add_option("folder", arguments.folder, "folder written by `network build`")->required();
  add_common(*command, common, true);
  command->callback([&, run] { code = run(common, arguments); });
  return *command;
}

template <typename Arguments>
void add_values(CLI::App& command, Arguments& arguments, const char* otherwise) {
  command.add_option(
      "--dim", arguments.dimensions,
      fmt::format("value of a varying extent, such as batch=7 (may be repeated; default: {})", otherwise));
}

template <typename Arguments>
void add_random_inputs(CLI::App& command, Arguments& arguments) {
  add_not_negative(command, "--seed", arguments.seed, "seed of the random inputs");
  add_positive(command, "--integers", arguments.integers,
               "upper bound of random integers, exclusive; the lower bound is 0");
}

void add_library_commands(CLI::App& group, Common& common, AllNetworkArguments& arguments, int& code) {
  CLI::App& verify = add_library_command(
      group, common, "verify",
      "run a built library and verify each step against a reference on the step's own inputs",
      arguments.verify, run_network_verify, code);
  verify.add_option("--model", arguments.verify.model,
                    "network file (default: the one that the library was built from)");
  add_positive(verify, "--calls", arguments.verify.calls, "number of calls, each with another seed");
  add_values(verify, arguments.verify, "typical values, both bounds, a prime and a random value");
  add_random_inputs(verify, arguments.verify);
  CLI::App& run =
      add_library_command(group, common, "run", "run a built library on inputs from files or random inputs",
                          arguments.run, run_network_run, code);
  run.add_option("--input", arguments.run.inputs,
                 "tensor file, .npy or .pb, one for each input in order (default: random inputs)");
  add_values(run, arguments.run, "those of the input files, or the highest");
  run.add_option("--output,-o", arguments.run.output, "output folder for output_0.npy and so on");
  add_random_inputs(run, arguments.run);
  CLI::App& bench = add_library_command(
      group, common, "bench",
      "time a built library: whole calls, each step, and the time threads wait for each other",
      arguments.bench, run_network_bench, code);
  add_positive(bench, "--calls", arguments.bench.calls, "that are timed");
  add_values(bench, arguments.bench, "the highest");
  bench
      .add_option("--threads", arguments.bench.threads,
                  "number of threads that run parallel loops (default: all processors)")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void add_network(CLI::App& app, Common& common, AllNetworkArguments& arguments, int& code) {
  CLI::App* group = add_group(app, "network", "import, tune, build and verify networks such as ONNX files",
                              "network import model.onnx");
  add_file_commands(*group, common, arguments.network, code);
  add_network_tune(*group, common, arguments.tune, code);
  add_library_commands(*group, common, arguments, code);
  NetworkTestArguments& tests = arguments.test;
  CLI::App* test = group->add_subcommand(
      "test", "run test cases in ONNX's format: folders of a model.onnx with input and output data");
  test->footer("Example: tunesmith network test /usr/share/libonnx-testdata/data/node");
  test->add_option("folders", tests.folders, "folders of test cases, searched recursively")->required();
  add_operators(*test, tests.operators);
  CLI::Option* const interpret =
      test->add_flag("--interpret", tests.interpret, "interpret the models without compiling code");
  test->add_flag("--build", tests.build, "build and run each model's library")->excludes(interpret);
  test->add_option("--processes", tests.processes,
                   "number of tests run at once (default: one for each processor)")
      ->check(CLI::PositiveNumber);
  test->add_flag("-v,--verbose", tests.verbose, "print each folder's result");
  add_common(*test, common, true);
  test->callback([&] { code = run_network_test(common, tests); });
}

}  // namespace tunesmith::cli
