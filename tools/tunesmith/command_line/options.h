// Helpers of the command line's definition, besides main.cpp.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "compare/commands.h"
#include "fleet/commands.h"
#include "measure/commands.h"
#include "model/commands.h"
#include "network/commands.h"
#include "plugins/commands.h"
#include "prior/commands.h"
#include "programs/commands.h"
#include "records/commands.h"
#include "spaces/commands.h"
#include "tune/commands.h"

namespace tunesmith::cli {

/// Checks of numbers; CLI11's own report the bounds of the type.
const CLI::Validator& positive();
const CLI::Validator& not_negative();

/// A group of commands. `example`: the words after "tunesmith".
CLI::App* add_group(CLI::App& app, const std::string& name, const std::string& help,
                    const std::string& example);

/// Adds common options; with `spaces` also those of commands that compose a space.
void add_common(CLI::App& command, Common& common, bool spaces);

void add_database(CLI::App& command, std::string& file);
void add_allow_memory(CLI::App& command, bool& allow);
void add_threads(CLI::App& command, int& threads, const std::string& of_what);
/// Adds --runner, for commands that search live.
void add_runner(CLI::App& command, std::string& runner);
void add_candidate_time_out(CLI::App& command, double& seconds, const std::string& of_what);
/// For tasks without a record: --untuned and --draws. `when`: "where there is no record".
CLI::Option* add_untuned(CLI::App& command, bool& untuned, int64_t& draws, const std::string& when);
/// The options of `tune` that `network tune` has, too.
void add_task_budget(CLI::App& command, TuneArguments& arguments);

/// A positive number whose default is shown.
template <typename Number>
CLI::Option* add_positive(CLI::App& command, const char* names, Number& number, const std::string& help) {
  return command.add_option(names, number, help)->capture_default_str()->check(positive());
}
/// The same for one that may be zero, such as a seed.
template <typename Number>
CLI::Option* add_not_negative(CLI::App& command, const char* names, Number& number, const std::string& help) {
  return command.add_option(names, number, help)->capture_default_str()->check(not_negative());
}

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code);
void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code);
void add_model(CLI::App& app, Common& common, ModelArguments& arguments, int& code);
void add_prior(CLI::App& app, Common& common, PriorArguments& arguments, int& code);
void add_bench(CLI::App& app, Common& common, BenchArguments& arguments, int& code);
void add_measure(CLI::App& app, Common& common, MeasureArguments& arguments, int& code);
void add_serve(CLI::App& app, Common& common, ServeArguments& arguments, int& code);
void add_fleet(CLI::App& app, Common& common, FleetArguments& arguments, int& code);
void add_compare(CLI::App& app, Common& common, CompareArguments& arguments, int& code);
void add_tables(CLI::App& app, Common& common, TablesArguments& arguments, TablesRecordArguments& recording,
                int& code);
void add_report(CLI::App& app, Common& common, ReportArguments& arguments, int& code);
void add_doctor(CLI::App& app, Common& common, int& code);
void add_spaces(CLI::App& app, Common& common, SpacesArguments& arguments, int& code);
void add_features(CLI::App& app, Common& common, FeaturesArguments& arguments, int& code);
void add_workloads(CLI::App& app, Common& common, std::string& workload, int& code);
/// A command of the group `workloads`.
void add_check_verification(CLI::App& app, Common& common, CheckVerificationArguments& arguments, int& code);
void add_trace(CLI::App& app, Common& common, TraceArguments& arguments, int& code);
void add_plugins(CLI::App& app, Common& common, PluginsArguments& arguments, NewPluginArguments& creation,
                 VerifyArguments& verification, int& code);
void add_network(CLI::App& app, Common& common, AllNetworkArguments& arguments, int& code);
void add_records(CLI::App& app, Common& common, RecordsArguments& arguments, int& code);
void add_opt(CLI::App& app, Common& common, OptArguments& arguments, int& code);
void add_explain(CLI::App& app, Common& common, std::string& rule, int& code);

}  // namespace tunesmith::cli
