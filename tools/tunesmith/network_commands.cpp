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
                       int (*run)(const Common&, const NetworkArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->footer(std::string("Example: tunesmith network ") + name + " model.onnx");
    command->add_option("file", arguments.file, "the file of the network")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
  };
  add("import", "check that a network can be read, and print its inputs, outputs, operators and weights",
      run_network_import);
  add("show", "print a network: what it is given, its nodes and its results, one a line", run_network_show);
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
