// The options of the commands for plugins and their rules.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_new_plugin(CLI::App& group, Common& common, NewPluginArguments& arguments, int& code) {
  CLI::App* command =
      group.add_subcommand("new", "write a folder with a plugin that builds and does nothing yet");
  command->footer("Example: tunesmith plugins new module acme_tile");
  command
      ->add_option("kind", arguments.kind,
                   "module, searcher, cost_model, task_scheduler, runner, importer, target or extension")
      ->required();
  command->add_option("name", arguments.name, "the plugin's id: a-z, 0-9 and _")->required();
  command->add_option("--into", arguments.into, "the folder to write (one of the plugin's name)");
  command->add_flag("--yaml", arguments.yaml,
                    "of an extension: its instructions as data in a YAML file, instead of C++");
  command->add_flag("--json", common.json, "print the result as one JSON object on standard output");
  command->add_flag("--quiet,-q", common.quiet, "do not list the files written");
  command->callback([&] { code = run_plugins_new(common, arguments); });
}

void add_verify(CLI::App& group, Common& common, VerifyArguments& arguments, int& code) {
  CLI::App* command =
      group.add_subcommand("verify", "check the plugins of a pack against the contract of their kinds");
  command->footer("Example: tunesmith plugins verify build/plugins --spaces spaces.yaml");
  command->add_option("path", arguments.path, "a folder with packs, or the manifest of a pack")->required();
  command->add_option("--workload", arguments.workloads,
                      "a workload to check modules on, besides the built-in ones");
  command->add_option("--expect", arguments.expected,
                      "KIND:ID/CHECK=REASON: a failure that is known and does not count");
  command->add_option("--check", arguments.checks, "the name of a check: only those that are named are run");
  add_positive(*command, "--time-limit", arguments.seconds, "seconds for one check");
  add_common(*command, common, true);
  command->callback([&] { code = run_plugins_verify(common, arguments); });
}

}  // namespace

void add_doctor(CLI::App& app, Common& common, int& code) {
  CLI::App* command =
      app.add_subcommand("doctor", "show this machine, its measured peaks, and whether every plugin loads");
  command->footer("Example: tunesmith doctor");
  add_common(*command, common, true);
  command->callback([&] { code = run_doctor(common); });
}

void add_plugins(CLI::App& app, Common& common, PluginsArguments& arguments, NewPluginArguments& creation,
                 VerifyArguments& verification, int& code) {
  CLI::App* group = add_group(
      app, "plugins", "modules, targets, searchers, cost models, task schedulers, runners and importers",
      "plugins list --options");
  CLI::App* list = group->add_subcommand("list", "list the plugins that were found, and what each does");
  list->add_flag("--why", arguments.why,
                 "list every place searched, and what was found there, accepted or refused, and why");
  list->add_flag("--options", arguments.options, "also list the options of each plugin");
  add_common(*list, common, true);
  list->callback([&] { code = run_plugins_list(common, arguments); });
  CLI::App* probe = group->add_subcommand("probe", "load each plugin in a process of its own");
  add_common(*probe, common, true);
  probe->callback([&] { code = run_plugins_probe(common); });
  CLI::App* lock =
      group->add_subcommand("lock", "write the plugins found and their hashes to a file, for --locked");
  lock->add_option("file", arguments.lock_file, "the lock file")->required();
  add_common(*lock, common, true);
  lock->callback([&] { code = run_plugins_lock(common, arguments); });
  add_new_plugin(*group, common, creation, code);
  add_verify(*group, common, verification, code);
}

void add_explain(CLI::App& app, Common& common, std::string& rule, int& code) {
  CLI::App* command = app.add_subcommand("explain", "print a rule for plugins that a message cites");
  command->footer("Example: tunesmith explain P12");
  command->add_option("rule", rule, "its number, as P12")->required();
  command->add_flag("--json", common.json, "one JSON object on stdout");
  command->callback([&] { code = run_explain(common, rule); });
}

}  // namespace tunesmith::cli
