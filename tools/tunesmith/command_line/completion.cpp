// Shell completion: a script that determines the command from the words and
// offers its options and subcommands; if it offers none, the shell offers files.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/workload/library.h>

#include "command_help.h"
#include "common/exit_codes.h"
#include "next_command.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

struct Choice {
  std::string word;
  std::string text;
  bool takes_value = false;
};

/// A command by the words that lead to it, "" for tunesmith itself.
struct Place {
  std::string path;
  std::vector<Choice> choices;
  bool takes_workload = false;
};

/// The option before a workload's name, where that is no positional argument.
constexpr const char* kWorkloadOption = "--workload";

/// From the library at the time of printing the script.
std::string workload_names() { return fmt::format("{}", fmt::join(WorkloadLibrary().list(), " ")); }

void collect(const CommandHelp& command, const std::string& path, std::vector<Place>& places) {
  Place place{path, {}, false};
  for (const CommandHelp& below : command.commands) place.choices.push_back({below.name, below.text});
  for (const OptionHelp& option : command.options) {
    if (option.positional && option.names.front() == "workload") place.takes_workload = true;
    for (const std::string& name : option.names) {
      if (name.starts_with('-')) place.choices.push_back({name, option.text, !option.value.empty()});
    }
  }
  places.push_back(std::move(place));
  for (const CommandHelp& below : command.commands)
    collect(below, path.empty() ? below.name : path + " " + below.name, places);
}

void print_bash(const std::vector<Place>& places) {
  fmt::print(output(),
             "_tunesmith() {{\n"
             "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" place=\"\" choices=\"\" word\n"
             "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
             "    case \"${{place:+$place }}$word\" in\n");
  for (const Place& place : places) {
    if (!place.path.empty())
      fmt::print(output(), "      {}) place={} ;;\n", shell_word(place.path), shell_word(place.path));
  }
  fmt::print(output(), "    esac\n  done\n  case \"$place\" in\n");
  for (const Place& place : places) {
    std::string words;
    for (const Choice& choice : place.choices) words += (words.empty() ? "" : " ") + choice.word;
    if (place.takes_workload) words += " " + workload_names();
    fmt::print(output(), "    {}) choices={} ;;\n", shell_word(place.path), shell_word(words));
  }
  fmt::print(output(),
             "  esac\n"
             "  if [ \"${{COMP_WORDS[COMP_CWORD-1]}}\" = {} ]; then choices={}; fi\n"
             "  COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
             "}}\n"
             "complete -o default -F _tunesmith tunesmith\n",
             kWorkloadOption, shell_word(workload_names()));
}

void print_zsh(const std::vector<Place>& places) {
  fmt::print(output(),
             "#compdef tunesmith\n"
             "_tunesmith() {{\n"
             "  local place=\"\" word\n"
             "  local -a choices\n"
             "  for word in ${{words[2,CURRENT-1]}}; do\n"
             "    case \"${{place:+$place }}$word\" in\n");
  for (const Place& place : places) {
    if (!place.path.empty())
      fmt::print(output(), "      ({}) place={} ;;\n", shell_word(place.path), shell_word(place.path));
  }
  fmt::print(output(), "    esac\n  done\n  case \"$place\" in\n");
  for (const Place& place : places) {
    fmt::print(output(), "    ({}) choices=(\n", shell_word(place.path));
    for (const Choice& choice : place.choices) {
      std::string text;
      for (const char c : choice.text) text += c == ':' ? std::string("\\:") : std::string(1, c);
      fmt::print(output(), "      {}\n", shell_word(choice.word + ":" + text));
    }
    if (place.takes_workload) fmt::print(output(), "      {}\n", workload_names());
    fmt::print(output(), "      ) ;;\n");
  }
  fmt::print(output(),
             "  esac\n"
             "  if [ \"${{words[CURRENT-1]}}\" = {} ]; then choices=({}); fi\n"
             "  _describe tunesmith choices || _files\n"
             "}}\n"
             "if [ \"$funcstack[1]\" = _tunesmith ]; then _tunesmith \"$@\"; else compdef _tunesmith "
             "tunesmith; fi\n",
             kWorkloadOption, workload_names());
}

/// fish's own __fish_seen_subcommand_from would take `network tune` for `tune`, too.
void print_fish(const std::vector<Place>& places) {
  fmt::print(output(),
             "function __tunesmith_at\n"
             "  set -l place\n"
             "  for word in (commandline -opc)[2..-1]\n"
             "    switch \"$place $word\"\n");
  std::string known;
  for (const Place& place : places) {
    if (!place.path.empty()) known += " " + shell_word(" " + place.path);
  }
  fmt::print(output(),
             "      case{}\n"
             "        set place \"$place $word\"\n"
             "    end\n"
             "  end\n"
             "  test \"$place\" = \"$argv[1]\"\n"
             "end\n",
             known);
  for (const Place& place : places) {
    const std::string at = place.path.empty() ? "" : " " + place.path;
    const std::string condition = shell_word("__tunesmith_at " + shell_word(at));
    const auto print = [&](const std::string& choice) {
      fmt::print(output(), "complete -c tunesmith -n {} {}\n", condition, choice);
    };
    for (const Choice& choice : place.choices) {
      const std::string word = choice.word.starts_with("--")  ? "-l " + choice.word.substr(2)
                               : choice.word.starts_with('-') ? "-s " + choice.word.substr(1)
                                                              : "-a " + choice.word;
      const std::string names = choice.word == kWorkloadOption ? " -a " + shell_word(workload_names()) : "";
      print(
          fmt::format("{}{}{} -d {}", word, choice.takes_value ? " -r" : "", names, shell_word(choice.text)));
    }
    if (place.takes_workload) print("-a " + shell_word(workload_names()));
  }
}

}  // namespace

int run_completion(const CommandHelp& all, const std::string& shell) {
  std::vector<Place> places;
  collect(all, "", places);
  if (shell == "bash") print_bash(places);
  if (shell == "zsh") print_zsh(places);
  if (shell == "fish") print_fish(places);
  return kDone;
}

}  // namespace tunesmith::cli
