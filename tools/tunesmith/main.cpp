#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/version.h>

#include "commands.h"
#include "exit_codes.h"

namespace {

using namespace tunesmith::cli;

void add_common(CLI::App& command, Common& common, bool spaces) {
  command.add_option("--plugin-path", common.plugin_paths,
                     "a folder with plugin packs, or a pack's manifest; looked at first");
  command.add_option("--locked", common.lock_file, "load only plugins that this lock file lists");
  command.add_flag("--json", common.json, "one JSON object on stdout");
  command.add_flag("--quiet,-q", common.quiet, "no live line");
  if (!spaces) return;
  command.add_option("--spaces", common.spaces_file,
                     "the spaces file (spaces.yaml here, or the one that came along)");
  command.add_option("--space", common.space, "the space's name (the file's default)");
}

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("tune", "search for a fast program and record everything measured");
  command->footer("Example: tunesmith tune gmm:n=512,m=512,k=512 --trials 128");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")
      ->required();
  command->add_option("--trials", arguments.trials, "candidates to measure")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--batch", arguments.batch, "candidates in a round")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", arguments.seed, "of the random streams")->capture_default_str();
  command->add_option("--threads", arguments.threads, "processors to use; 0 = all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--time-limit", arguments.time_limit, "seconds after which the search ends; 0 = none")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "seconds that one candidate may take")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--database", arguments.database, "the records (in the user's data folder)");
  command->add_flag("--fresh", arguments.fresh,
                    "measure everything anew instead of taking up earlier records");
  add_common(*command, common, true);
  command->callback([&] { code = run_tune(common, arguments); });
}

void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code) {
  CLI::App* command = app.add_subcommand("build", "write the best program found as a C library");
  command->footer("Example: tunesmith build gmm:n=512,m=512,k=512 --output lib");
  command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
  command->add_option("--output,-o", arguments.output, "folder for lib<name>.so and <name>.h")
      ->capture_default_str();
  command->add_option("--name", arguments.name, "of the library and its functions (the workload's name)");
  command->add_option("--trace", arguments.trace, "a trace's file instead of the best record");
  command->add_option("--database", arguments.database, "the records (in the user's data folder)");
  add_common(*command, common, true);
  command->callback([&] { code = run_build(common, arguments); });
}

int report(const std::exception& error, int code) {
  std::fputs(fmt::format("tunesmith: {}\n", error.what()).c_str(), stderr);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tunesmith: finds fast programs for tensor computations");
  app.set_version_flag("--version", std::string(tunesmith::kernel_version()));
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 2 bad usage or input, 3 nothing valid found, 4 a fault of the environment");
  int code = kDone;
  Common common;
  TuneArguments tune;
  BuildArguments build;
  add_tune(app, common, tune, code);
  add_build(app, common, build, code);
  try {
    app.parse(argc, argv);
    return code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kBadInput;
  } catch (const tunesmith::UserError& error) {
    return report(error, kBadInput);
  } catch (const tunesmith::EnvironmentError& error) {
    return report(error, kEnvironmentFault);
  } catch (const std::exception& error) {
    return report(error, kEnvironmentFault);
  }
}
