// Manual pages in man(7), one for tunesmith and one for each command.
#include <filesystem>

#include <fmt/format.h>

#include <tunesmith/support/files.h>
#include <tunesmith/support/version.h>

#include "command_help.h"
#include "common/exit_codes.h"

namespace tunesmith::cli {
namespace {

/// Escapes a line for roff.
std::string roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string usage(const std::string& spoken, const CommandHelp& command) {
  std::string line = fmt::format(".B {}\n", roff(spoken));
  for (const OptionHelp& option : command.options) {
    if (option.positional) line += fmt::format(".I {}\n", roff(option.names.front()));
  }
  if (!command.commands.empty()) line += ".I command\n";
  return line + "[\\fIoptions\\fR]\n";
}

std::string options_text(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    std::string head;
    for (const std::string& name : option.names)
      head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
    if (!option.value.empty() && !option.positional) head += fmt::format(" \\fI{}\\fR", roff(option.value));
    text += fmt::format(".TP\n{}\n{}\n", head, roff(sentence(option.text)));
    if (!option.preset.empty()) text += fmt::format("Default: {}.\n", roff(option.preset));
  }
  return text;
}

void write_page(const std::filesystem::path& folder, const std::string& spoken, const CommandHelp& command) {
  std::string name = spoken;
  for (char& c : name) c = c == ' ' ? '-' : c;
  const std::filesystem::path path = folder / (name + ".1");
  std::string page =
      fmt::format(".TH \"{}\" 1 \"\" \"Tunesmith {}\" \"Tunesmith\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
                  roff(name), kernel_version(), roff(name), roff(command.text), usage(spoken, command));
  if (!command.commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const CommandHelp& below : command.commands)
      page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(below.name), roff(sentence(below.text)));
  }
  page += ".SH OPTIONS\n" + options_text(command);
  if (!command.footer.empty()) page += fmt::format(".SH NOTES\n{}\n", roff(command.footer));
  write_whole_file(path, page);
  for (const CommandHelp& below : command.commands) write_page(folder, spoken + " " + below.name, below);
}

}  // namespace

int run_man_pages(const CommandHelp& all, const std::string& folder) {
  std::filesystem::create_directories(folder);
  write_page(folder, "tunesmith", all);
  return kDone;
}

}  // namespace tunesmith::cli
