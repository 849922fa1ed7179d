#include "options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tunesmith::cli {
namespace {

/// A number for which `holds`; CLI11's own checks answer with the bounds of the type.
template <typename Holds>
CLI::Validator number_that(Holds holds, const char* expected, const char* name) {
  const auto check = [holds, expected](const std::string& text) -> std::string {
    double value = 0.0;
    if (CLI::detail::lexical_cast(text, value) && holds(value)) return "";
    return fmt::format("expected {}, not '{}'", expected, text);
  };
  return CLI::Validator(check, name);
}

}  // namespace

const CLI::Validator& positive() {
  static const CLI::Validator check =
      number_that([](double value) { return value > 0.0; }, "a number above zero", "POSITIVE");
  return check;
}

const CLI::Validator& not_negative() {
  static const CLI::Validator check =
      number_that([](double value) { return value >= 0.0; }, "a number that is not negative", "NOT NEGATIVE");
  return check;
}

void add_common(CLI::App& command, Common& common, bool spaces) {
  command.add_option("--plugin-path", common.plugin_paths,
                     "a folder with plugin packs, or a pack's manifest; searched before the other folders");
  command.add_option("--locked", common.lock_file, "load only plugins that this lock file lists");
  command.add_flag("--json", common.json, "print the result as one JSON object on standard output");
  command.add_flag("--quiet,-q", common.quiet,
                   "print no progress, and no remark on which spaces file is used");
  if (!spaces) return;
  command.add_option("--spaces", common.spaces_file,
                     "the spaces file (default: ./spaces.yaml where there is one, else the built-in spaces)");
  command.add_option(
      "--space", common.space,
      "the space to use, of the spaces file or a built-in one (default: the one that the file names)");
  command
      .add_option("--plugin-seconds", common.plugin_seconds,
                  "seconds that one call of a plugin may take; 0 = no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--plugin-memory", common.plugin_gibibytes,
                  "GiB by which the process may grow during one call of a plugin; 0 = no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace tunesmith::cli
