// The options of the commands for plugins and their rules.
#include "options.h"

namespace tunesmith::cli {
namespace {

void add_new_plugin(CLI::App& group, Common& common, NewPluginArguments& arguments, int& code) {
  CLI::App* command = group.add_subcommand(
      "new", "create the source folder of a new plugin that builds but does nothing yet");
  command->footer("Example: tunesmith plugins new module acme_tile");
  command
      ->add_option("kind", arguments.kind,
                   "module, searcher, cost_model, task_scheduler, runner, importer, target or extension")
      ->required();
  command->add_option("name", arguments.name, "the plugin's id: a-z, 0-9 and _")->required();
  command->add_option("--into", arguments.into, "output folder (default: the plugin's id)");
  command->add_flag("--yaml", arguments.yaml,
                    "describe an extension's instructions in a YAML file instead of C++");
  command->add_flag("--json", common.json, "print the result as one JSON object on standard output");
  command->add_flag("--quiet,-q", common.quiet, "do not list the files written");
  command->callback([&] { code = run_plugins_new(common, arguments); });
}

void add_verify(CLI::App& group, Common& common, VerifyArguments& arguments, int& code) {
  CLI::App* command =
      group.add_subcommand("verify", "check that a pack's plugins keep the contracts of their kinds");
  command->footer("Example: tunesmith plugins verify build/plugins --spaces spaces.yaml");
  command->add_option("path", arguments.path, "folder of packs, or a pack's manifest")->required();
  command->add_option("--workload", arguments.workloads, "additional workload to check modules on");
  command->add_option("--expect", arguments.expected,
                      "KIND:ID/CHECK=REASON: expected failure, which does not fail the command");
  command->add_option("--check", arguments.checks, "run only the named checks (may be repeated)");
  add_positive(*command, "--time-limit", arguments.seconds, "time limit of one check in seconds");
  add_common(*command, common, true);
  command->callback([&] { code = run_plugins_verify(common, arguments); });
}

}  // namespace

void add_doctor(CLI::App& app, Common& common, int& code) {
  CLI::App* command = app.add_subcommand(
      "doctor", "show this machine and its measured peaks, and test that every plugin loads");
  command->footer("Example: tunesmith doctor");
  add_common(*command, common, true);
  command->callback([&] { code = run_doctor(common); });
}

void add_plugins(CLI::App& app, Common& common, PluginsArguments& arguments, NewPluginArguments& creation,
                 VerifyArguments& verification, int& code) {
  CLI::App* group = add_group(app, "plugins", "list, check and create plugins", "plugins list --options");
  CLI::App* list = group->add_subcommand("list", "list the plugins found, with a description of each");
  list->add_flag("--why", arguments.why,
                 "also list every searched path, and why a plugin was accepted or refused");
  list->add_flag("--options", arguments.options, "also list the options of each plugin");
  add_common(*list, common, true);
  list->callback([&] { code = run_plugins_list(common, arguments); });
  CLI::App* probe = group->add_subcommand("probe", "test that each plugin loads, in a separate process");
  add_common(*probe, common, true);
  probe->callback([&] { code = run_plugins_probe(common); });
  CLI::App* lock =
      group->add_subcommand("lock", "write a lock file for --locked: the plugins found and their hashes");
  lock->add_option("file", arguments.lock_file, "the lock file")->required();
  add_common(*lock, common, true);
  lock->callback([&] { code = run_plugins_lock(common, arguments); });
  add_new_plugin(*group, common, creation, code);
  add_verify(*group, common, verification, code);
}

void add_explain(CLI::App& app, Common& common, std::string& rule, int& code) {
  CLI::App* command = app.add_subcommand("explain", "explain a plugin rule cited by a message");
  command->footer("Example: tunesmith explain P12");
  command->add_option("rule", rule, "the rule's number, such as P12")->required();
  command->add_flag("--json", common.json, "print the result as one JSON object on standard output");
  command->callback([&] { code = run_explain(common, rule); });
}

}  // namespace tunesmith::cli
