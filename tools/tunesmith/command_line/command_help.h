// The command line's own description, from which completion and manual pages are generated.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tunesmith::cli {

struct OptionHelp {
  std::vector<std::string> names;  // "--trials", "-q"; a positional argument's one name without dashes
  std::string value;               // "INT"; empty for a flag
  std::string text;
  std::string preset;  // the default value, if known
  bool positional = false;
};

struct CommandHelp {
  std::string name;  // "tunesmith", "tune", "lint"
  std::string text;
  std::string footer;
  std::vector<OptionHelp> options;
  std::vector<CommandHelp> commands;  // below it
};

/// Hidden commands are left out.
CommandHelp describe(const CLI::App& app);

/// Prints the script for "bash", "zsh" or "fish".
int run_completion(const CommandHelp& all, const std::string& shell);
/// Writes tunesmith.1, and tunesmith-tune.1 and the like for each command, into the folder, which is made.
int run_man_pages(const CommandHelp& all, const std::string& folder);

}  // namespace tunesmith::cli
