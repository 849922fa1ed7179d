#include "command_help.h"

#include <CLI/CLI.hpp>

namespace tunesmith::cli {

CommandHelp describe(const CLI::App& app) {
  CommandHelp help{
      app.get_name().empty() ? "tunesmith" : app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionHelp one;
    one.positional = option->get_positional();
    if (one.positional) one.names.push_back(option->get_name(true));
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    if (option->get_items_expected_max() > 0) one.value = option->get_type_name();
    one.text = option->get_description();
    one.preset = option->get_default_str();
    help.options.push_back(std::move(one));
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    if (!below->get_group().empty()) help.commands.push_back(describe(*below));
  }
  return help;
}

}  // namespace tunesmith::cli
