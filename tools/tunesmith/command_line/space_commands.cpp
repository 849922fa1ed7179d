// The options of `spaces`.
#include "options.h"

namespace tunesmith::cli {

void add_spaces(CLI::App& app, Common& common, SpacesArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "spaces", "list, show and check search spaces", "spaces explain softmax --space cpu");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const SpacesArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  CLI::App* list =
      group->add_subcommand("list", "list spaces with their purpose and what this machine lacks to use them");
  add_common(*list, common, true);
  list->callback([&] { code = run_spaces_list(common); });
  CLI::App* lint = group->add_subcommand("lint", "check a spaces file and print the stages of each space");
  lint->add_option("file", arguments.file, "the spaces file, as with --spaces");
  add_common(*lint, common, true);
  lint->callback([&] { code = run_spaces_lint(common, arguments); });
  add("show", "print a workload's sketches: traces with open decisions", run_spaces_show);
  CLI::App* sample =
      add("sample", "draw random candidates and print their decisions, one per line", run_spaces_sample);
  add_positive(*sample, "--count", arguments.count, "number of rows to print");
  add_not_negative(*sample, "--seed", arguments.seed, "random seed: the same seed draws the same candidates");
  add("explain", "show what each module did to each block, and why modules declined", run_spaces_explain);
}

}  // namespace tunesmith::cli
