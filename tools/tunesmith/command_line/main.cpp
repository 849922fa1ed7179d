#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/version.h>

#include "command_help.h"
#include "common/exit_codes.h"
#include "early_exit.h"
#include "options.h"
#include "output.h"

namespace {

using namespace tunesmith::cli;

/// Gives commands of groups their own examples: CLI11 would print the group's example.
void add_examples(CLI::App& app) {
  struct Example {
    const char* group;
    const char* command;
    const char* arguments;
  };
  constexpr Example kExamples[] = {
      {"spaces", "list", ""},
      {"spaces", "lint", "spaces.yaml"},
      {"spaces", "show", "softmax --space cpu"},
      {"spaces", "sample", "softmax --space cpu --count 3"},
      {"records", "list", "--count 20"},
      {"records", "show", "0123456789abcdef"},
      {"records", "export", "--workload gmm --output gmm.jsonl"},
      {"records", "import", "gmm.jsonl"},
      {"records", "merge", "other.db"},
      {"records", "delete", "--workload gmm:n=48"},
      {"records", "check", ""},
      {"workloads", "list", ""},
      {"plugins", "probe", ""},
      {"plugins", "lock", "plugins.lock"},
      {"tables", "show", "bench/tables/gmm.table.gz"},
      {"tables", "check", "bench/tables/gmm.table.gz"},
      {"tables", "rehash", "gmm.table.gz --output gmm-now.table.gz"},
      {"trace", "replay", "mine.trace --workload gmm:n=512,m=512,k=512"},
      {"trace", "export", "0123456789abcdef --output one.jsonl"},
      {"trace", "check", "one.jsonl"},
      {"trace", "diff", "mine.trace 0123456789abcdef"},
  };
  for (const Example& example : kExamples) {
    std::string text = fmt::format("Example: tunesmith {} {}", example.group, example.command);
    if (*example.arguments != '\0') text += fmt::format(" {}", example.arguments);
    app.get_subcommand(example.group)->get_subcommand(example.command)->footer(text);
  }
}

void add_completion(CLI::App& app, std::string& shell, int& code) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  command->footer("Example: source <(tunesmith completion bash)");
  command->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&] { code = run_completion(describe(app), shell); });
}

/// A hidden command for the package's build.
void add_man_pages(CLI::App& app, std::string& folder, int& code) {
  CLI::App* command = app.add_subcommand("man-pages", "write the manual pages")->group("");
  command->add_option("folder", folder, "where to write them")->required();
  command->callback([&] { code = run_man_pages(describe(app), folder); });
}

/// Adds the nearest name to CLI11's message; empty if no name is near.
std::string unknown_name(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  std::string owner = "tunesmith";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.starts_with("--");
    const std::string name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    if (is_option) {
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
      }
    } else {
      for (const CLI::App* below : command->get_subcommands({})) known.push_back(below->get_name());
      if (known.empty() || word.starts_with("-")) continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string nearest = tunesmith::nearest_name(name, known);
      return fmt::format("unknown {} '{}'; {}", is_option ? "option" : "command", name,
                         nearest.empty() ? fmt::format("'{} --help' lists them", owner)
                                         : fmt::format("did you mean '{}'?", nearest));
    }
    if (is_option) continue;
    command = command->get_subcommand(word);
    owner += " " + word;
  }
  return "";
}

int report(const std::string& error, int code) {
  std::fputs(fmt::format("tunesmith: {}\n", error).c_str(), stderr);
  return code;
}

/// "tunesmith spaces show": as far as the command line named commands.
std::string parsed_command(const CLI::App& app) {
  std::string command = "tunesmith";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return command;
}

/// The command that runs sets `code`.
int parse_and_run(CLI::App& app, std::vector<std::string> words, const int& code) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  const int argc = static_cast<int>(pointers.size());
  char** const argv = pointers.data();
  if (argc == 1) {
    std::fputs(app.help("tunesmith").c_str(), stderr);
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
    if (!std::cout.flush() || std::fflush(output()) != 0 || std::ferror(output()) != 0)
      throw tunesmith::EnvironmentError("standard output cannot be written");
    return code;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = error.get_exit_code() == 0 ? "" : unknown_name(app, argc, argv);
    if (!unknown.empty()) return report(unknown, kBadInput);
    if (error.get_exit_code() == 0) return app.exit(error);  // help, or the version
    return report(fmt::format("{}; '{} --help' lists its options", error.what(), parsed_command(app)),
                  kBadInput);
  } catch (const tunesmith::UserError& error) {
    return report(error.what(), kBadInput);
  } catch (const tunesmith::EnvironmentError& error) {
    return report(error.what(), kEnvironmentFault);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(fmt::format("{}: {}", error.path1().string(), error.code().message()), kEnvironmentFault);
  } catch (const std::bad_alloc&) {
    return report("out of memory", kEnvironmentFault);
  } catch (const std::exception& error) {
    return report(error.what(), kEnvironmentFault);
  }
}

/// "amqps://USER:PASSWORD@HOST" -> "amqps://USER:********@HOST", where lists of processes and records show
/// it.
void hide_password(char* word) {
  char* const begin = std::strstr(word, "://");
  char* const end = begin == nullptr ? nullptr : std::strchr(begin, '@');
  if (end == nullptr) return;
  if (char* const colon = std::find(begin + 3, end, ':'); colon != end) std::fill(colon + 1, end, '*');
}

/// Returns the words as given and hides passwords in `argv`.
std::vector<std::string> take_words(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (int i = 1; i < argc; ++i) hide_password(argv[i]);
  return words;
}

/// Leaves out the program's folder, which readers of records and tables need not know.
std::string command_line_of(int argc, char** argv) {
  std::string line = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) line += " " + std::string(argv[i]);
  return line;
}

void set_up(CLI::App& app) {
  app.set_version_flag("--version", std::string(tunesmith::kernel_version()));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 bad usage or input, 3 nothing valid found, 4 environment error, 130 "
      "interrupted");
}

}  // namespace

int main(int argc, char** argv) {
  watch_for_early_exit();
  CLI::App app("Tunesmith: finds fast programs for tensor computations");
  set_up(app);
  int code = kDone;
  Common common;
  TuneArguments tune;
  BuildArguments build;
  add_tune(app, common, tune, code);
  add_build(app, common, build, code);
  BenchArguments bench;
  add_bench(app, common, bench, code);
  MeasureArguments measure;
  add_measure(app, common, measure, code);
  ServeArguments serve;
  add_serve(app, common, serve, code);
  FleetArguments fleet;
  add_fleet(app, common, fleet, code);
  CompareArguments compare;
  add_compare(app, common, compare, code);
  TablesArguments tables;
  TablesRecordArguments recording;
  add_tables(app, common, tables, recording, code);
  ReportArguments report_arguments;
  add_report(app, common, report_arguments, code);
  SpacesArguments spaces;
  FeaturesArguments features;
  ModelArguments model;
  PriorArguments prior;
  RecordsArguments records;
  PluginsArguments plugins;
  NewPluginArguments new_plugin;
  CheckVerificationArguments check_verification;
  VerifyArguments verification;
  TraceArguments trace;
  std::string workload, rule, shell, man_folder;
  add_doctor(app, common, code);
  add_spaces(app, common, spaces, code);
  add_features(app, common, features, code);
  add_model(app, common, model, code);
  add_prior(app, common, prior, code);
  add_records(app, common, records, code);
  add_workloads(app, common, workload, code);
  add_check_verification(app, common, check_verification, code);
  add_plugins(app, common, plugins, new_plugin, verification, code);
  AllNetworkArguments network;
  add_network(app, common, network, code);
  add_explain(app, common, rule, code);
  add_trace(app, common, trace, code);
  OptArguments opt;
  add_opt(app, common, opt, code);
  add_examples(app);
  add_completion(app, shell, code);
  add_man_pages(app, man_folder, code);
  std::vector<std::string> words = take_words(argc, argv);
  common.command_line = command_line_of(argc, argv);
  return end_with(parse_and_run(app, std::move(words), code));
}
