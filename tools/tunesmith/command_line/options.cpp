#include "options.h"

#include <fmt/format.h>

namespace tunesmith::cli {
namespace {

/// Accepts numbers for which `holds` is true; CLI11's own checks report the bounds of the type.
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

CLI::App* add_group(CLI::App& app, const std::string& name, const std::string& help,
                    const std::string& example) {
  CLI::App* group = app.add_subcommand(name, help);
  group->require_subcommand(1);
  group->footer("Example: tunesmith " + example);
  return group;
}

void add_common(CLI::App& command, Common& common, bool spaces) {
  command.add_option("--plugin-path", common.plugin_paths,
                     "folder of plugin packs, or a pack's manifest; searched before other folders");
  command.add_option("--locked", common.lock_file, "load only the plugins listed in this lock file");
  command.add_flag("--json", common.json, "print the result as one JSON object on standard output");
  command.add_flag("--quiet,-q", common.quiet, "suppress progress and notes");
  if (!spaces) return;
  command.add_option("--spaces", common.spaces_file,
                     "spaces file (default: ./spaces.yaml if it exists, else the built-in spaces)");
  command.add_option("--space", common.space,
                     "search space to use, from the spaces file or built in (default: the file's default)");
  command
      .add_option("--plugin-seconds", common.plugin_seconds,
                  "time limit in seconds for one call of a plugin; 0 = no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--plugin-memory", common.plugin_gibibytes,
                  "memory limit in GiB for one call of a plugin; 0 = no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

void add_database(CLI::App& command, std::string& file) {
  command.add_option("--database", file,
                     "record store (default: tunesmith/records.db in the user's data folder)");
}

void add_allow_memory(CLI::App& command, bool& allow) {
  command.add_flag("--allow-memory", allow, "measure even if it needs more memory than is available");
}

void add_threads(CLI::App& command, int& threads, const std::string& of_what) {
  add_not_negative(command, "--threads", threads, of_what + "; 0 = one for each processor");
}

void add_runner(CLI::App& command, std::string& runner) {
  command.add_option(
      "--runner", runner,
      "the runner, which measures candidates, to use instead of the space's (default: local, this machine)");
}

void add_candidate_time_out(CLI::App& command, double& seconds, const std::string& of_what) {
  add_positive(command, "--candidate-time-out", seconds, "seconds that " + of_what + " may take");
}

}  // namespace tunesmith::cli
