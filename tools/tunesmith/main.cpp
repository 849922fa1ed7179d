#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/version.h>

#include "command_help.h"
#include "commands.h"
#include "early_exit.h"
#include "exit_codes.h"
#include "options.h"
#include "output.h"

namespace {

using namespace tunesmith::cli;

CLI::App* add_group(CLI::App& app, const std::string& name, const std::string& help,
                    const std::string& example) {
  CLI::App* group = app.add_subcommand(name, help);
  group->require_subcommand(1);
  group->footer("Example: tunesmith " + example);
  return group;
}

void add_doctor(CLI::App& app, Common& common, int& code) {
  CLI::App* command =
      app.add_subcommand("doctor", "show this machine, its measured peaks, and whether every plugin loads");
  command->footer("Example: tunesmith doctor");
  add_common(*command, common, true);
  command->callback([&] { code = run_doctor(common); });
}

void add_spaces(CLI::App& app, Common& common, SpacesArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "spaces", "show and check search spaces", "spaces explain softmax --space cpu");
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const Common&, const SpacesArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("workload", arguments.workload, "NAME:PARAM=VALUE,...")->required();
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  CLI::App* list =
      group->add_subcommand("list", "list spaces, what they are for, and what is missing here to use them");
  add_common(*list, common, true);
  list->callback([&] { code = run_spaces_list(common); });
  CLI::App* lint = group->add_subcommand("lint", "check a spaces file, and print the stages of each space");
  lint->add_option("file", arguments.file, "the spaces file, as with --spaces");
  add_common(*lint, common, true);
  lint->callback([&] { code = run_spaces_lint(common, arguments); });
  add("show", "print the sketches of a workload: traces whose decisions are still open", run_spaces_show);
  CLI::App* sample =
      add("sample", "draw candidates at random, and print their decisions, one candidate a line",
          run_spaces_sample);
  sample->add_option("--count", arguments.count, "how many to print")
      ->capture_default_str()
      ->check(positive());
  sample
      ->add_option("--seed", arguments.seed,
                   "seed of the random numbers: the same seed draws the same candidates")
      ->capture_default_str()
      ->check(not_negative());
  add("explain", "say which module did what to which block, which modules declined, and why",
      run_spaces_explain);
}

void add_features(CLI::App& app, Common& common, FeaturesArguments& arguments, int& code) {
  CLI::App* command =
      app.add_subcommand("features", "print the features that a cost model is given of a program");
  command->footer("Example: tunesmith features gmm:n=512,m=512,k=512 --trace 0123456789abcdef");
  command->add_option("workload", arguments.workload,
                      "NAME:PARAM=VALUE,...; without one, all features are listed with their meaning");
  command->add_option("--trace", arguments.trace,
                      "a trace's file, or a record's id, instead of a program drawn from the space");
  command->add_option("--database", arguments.database,
                      "the file of the records (default: tunesmith/records.db in the user's data folder)");
  command->add_option("--seed", arguments.seed, "seed of the random numbers that the program is drawn with")
      ->capture_default_str()
      ->check(not_negative());
  add_common(*command, common, true);
  command->callback([&] { code = run_features(common, arguments); });
}

void add_workloads(CLI::App& app, Common& common, std::string& workload, int& code) {
  CLI::App* group =
      add_group(app, "workloads", "show the built-in operators", "workloads show conv2d:h=14,w=14");
  CLI::App* list = group->add_subcommand("list", "list names, parameters and their defaults");
  add_common(*list, common, false);
  list->callback([&] { code = run_workloads_list(common); });
  CLI::App* show = group->add_subcommand("show", "print the program of one workload");
  show->add_option("workload", workload, "NAME:PARAM=VALUE,... or FILE.yaml:PARAM=VALUE,...")->required();
  add_common(*show, common, false);
  show->callback([&] { code = run_workloads_show(common, workload); });
}

void add_check_verification(CLI::App& app, Common& common, CheckVerificationArguments& arguments, int& code) {
  CLI::App* command =
      app.get_subcommand("workloads")
          ->add_subcommand(
              "check-verification",
              "make wrong programs on purpose, and report whether verification accepts any; nothing "
              "is timed, so it waits only while another run measures");
  command->footer("Example: tunesmith workloads check-verification mine.yaml softmax:m=64 --types f32,bf16");
  command->add_option("workload", arguments.workloads, "one or more; the suite when there is none");
  command->add_option("--types", arguments.types, "values for the parameter dtype, with commas")
      ->delimiter(',');
  command->add_option("--programs", arguments.programs, "programs of the space, besides the unscheduled one")
      ->capture_default_str()
      ->check(not_negative());
  command->add_option("--places", arguments.sites, "places for each kind of mistake in one program")
      ->capture_default_str()
      ->check(positive());
  command->add_option("--seed", arguments.seed, "of the programs")
      ->capture_default_str()
      ->check(not_negative());
  command
      ->add_option("--threads", arguments.threads,
                   "number of threads to measure with; 0 = one for each processor")
      ->capture_default_str()
      ->check(not_negative());
  command
      ->add_option("--time-limit", arguments.time_limit, "seconds after which no workload is begun; 0 = none")
      ->capture_default_str();
  command
      ->add_option("--candidate-time-out", arguments.candidate_time_out, "seconds that one program may take")
      ->capture_default_str();
  add_common(*command, common, true);
  command->callback([&] { code = run_workloads_check_verification(common, arguments); });
}

void add_trace(CLI::App& app, Common& common, TraceArguments& arguments, int& code) {
  CLI::App* group =
      add_group(app, "trace", "show, replay and compare traces", "trace show 0123456789abcdef --lowered");
  const auto add = [&](const char* name, const char* help, int (*run)(const Common&, const TraceArguments&)) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("trace", arguments.trace, "a file, or a record's id")->required();
    command->add_option("--database", arguments.database,
                        "the file of the records (default: tunesmith/records.db in the user's data folder)");
    add_common(*command, common, true);
    command->callback([&, run] { code = run(common, arguments); });
    return command;
  };
  CLI::App* show = add("show", "print a trace, and on request the program that it makes", run_trace_show);
  show->add_option("--workload", arguments.workload, "the workload that a trace in a file is for");
  show->add_flag("--program", arguments.program, "also print the scheduled program");
  show->add_flag("--passes", arguments.passes, "also print the program after each step of lowering");
  show->add_flag("--lowered", arguments.lowered, "also print the finished program, lowered");
  show->add_flag(
      "--waste", arguments.waste,
      "also print which accesses take more of the memory than they ask for (targets with a grid of threads)");
  show->add_flag("--code", arguments.code,
                 "also print the source text that the target hands to a compiler (targets that have one)");
  show->add_flag("--assembly", arguments.assembly, "also print the target's code");
  add("replay", "check that a trace is legal on a workload, and say which decisions were changed",
      run_trace_replay)
      ->add_option("--workload", arguments.workload,
                   "the workload: needed for a trace in a file; for a record, another one than its own");
  CLI::App* export_command =
      add("export",
          "write a trace, its workload and its target as one line for another machine, to `measure` there",
          run_trace_export);
  export_command->add_option("--workload", arguments.workload, "the workload that a trace in a file is for");
  export_command->add_option("--output,-o", arguments.output, "the file to write (default: standard output)");
  export_command
      ->add_option("--repeats", arguments.repeats,
                   "write a job, of so many timed repeats (default: as usual)")
      ->check(positive());
  export_command
      ->add_option("--candidate-time-out", arguments.candidate_time_out,
                   "write a job, which may take so many seconds (default: as usual)")
      ->check(positive());
  CLI::App* check =
      group->add_subcommand("check", "say whether lines of `trace export` make the same programs here");
  check->add_option("file", arguments.trace, "a file of such lines")->required();
  add_common(*check, common, true);
  check->callback([&] { code = run_trace_check(common, arguments); });
  add("diff", "print what differs between two traces", run_trace_diff)
      ->add_option("other", arguments.other, "a file, or a record's id")
      ->required();
}

/// A command of a group without an example of its own would print its group's.
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
  CLI::App* command = app.add_subcommand("completion", "print a script that completes commands in a shell");
  command->footer("Example: source <(tunesmith completion bash)");
  command->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&] { code = run_completion(describe(app), shell); });
}

/// For the package's build, and in no list.
void add_man_pages(CLI::App& app, std::string& folder, int& code) {
  CLI::App* command = app.add_subcommand("man-pages", "write the manual pages")->group("");
  command->add_option("folder", folder, "where to write them")->required();
  command->callback([&] { code = run_man_pages(describe(app), folder); });
}

/// What CLI11 does not say of a command line: which name was meant. Empty where it can say no more.
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
      return fmt::format("there is no {} '{}'; {}", is_option ? "option" : "command", name,
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

/// `code`: what the command that is run sets.
int parse_and_run(CLI::App& app, int argc, char** argv, const int& code) {
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
    return report(fmt::format("{}; '{} --help' says what it takes", error.what(), parsed_command(app)),
                  kBadInput);
  } catch (const tunesmith::UserError& error) {
    return report(error.what(), kBadInput);
  } catch (const tunesmith::EnvironmentError& error) {
    return report(error.what(), kEnvironmentFault);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(fmt::format("{}: {}", error.path1().string(), error.code().message()), kEnvironmentFault);
  } catch (const std::bad_alloc&) {
    return report("there is not enough memory for this", kEnvironmentFault);
  } catch (const std::exception& error) {
    return report(error.what(), kEnvironmentFault);
  }
}

}  // namespace

int main(int argc, char** argv) {
  watch_for_early_exit();
  CLI::App app("Tunesmith: finds fast programs for tensor computations");
  app.set_version_flag("--version", std::string(tunesmith::kernel_version()));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 bad usage or input, 3 nothing valid found, 4 a fault of the environment, "
      "130 interrupted");
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
  RecordsArguments records;
  PluginsArguments plugins;
  NewPluginArguments new_plugin;
  CheckVerificationArguments check_verification;
  VerifyArguments verification;
  TraceArguments trace;
  std::string workload;
  add_doctor(app, common, code);
  add_spaces(app, common, spaces, code);
  add_features(app, common, features, code);
  add_model(app, common, model, code);
  add_records(app, common, records, code);
  add_workloads(app, common, workload, code);
  add_check_verification(app, common, check_verification, code);
  add_plugins(app, common, plugins, new_plugin, verification, code);
  AllNetworkArguments network;
  add_network(app, common, network, code);
  std::string rule;
  add_explain(app, common, rule, code);
  add_trace(app, common, trace, code);
  OptArguments opt;
  add_opt(app, common, opt, code);
  add_examples(app);
  std::string shell;
  add_completion(app, shell, code);
  std::string man_folder;
  add_man_pages(app, man_folder, code);
  // Where the program lies is nobody's business who gets a record or a table.
  common.command_line = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) common.command_line += " " + std::string(argv[i]);
  return end_with(parse_and_run(app, argc, argv, code));
}
