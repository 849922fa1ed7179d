// What the command line's definition is made of, beside main.cpp.
#pragma once

#include <string>

#include "commands.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace tunesmith::cli {

/// Checks of numbers; CLI11's own answer with the bounds of the type.
const CLI::Validator& positive();
const CLI::Validator& not_negative();

/// Options that commands share; with `spaces` also those of commands that compose a space.
void add_common(CLI::App& command, Common& common, bool spaces);

void add_database(CLI::App& command, std::string& file);
/// What `network tune` has of `tune`.
void add_task_budget(CLI::App& command, TuneArguments& arguments);

void add_tune(CLI::App& app, Common& common, TuneArguments& arguments, int& code);
void add_build(CLI::App& app, Common& common, BuildArguments& arguments, int& code);
void add_model(CLI::App& app, Common& common, ModelArguments& arguments, int& code);
void add_bench(CLI::App& app, Common& common, BenchArguments& arguments, int& code);
void add_measure(CLI::App& app, Common& common, MeasureArguments& arguments, int& code);
void add_compare(CLI::App& app, Common& common, CompareArguments& arguments, int& code);
void add_tables(CLI::App& app, Common& common, TablesArguments& arguments, TablesRecordArguments& recording,
                int& code);
void add_report(CLI::App& app, Common& common, ReportArguments& arguments, int& code);
void add_plugins(CLI::App& app, Common& common, PluginsArguments& arguments, NewPluginArguments& creation,
                 VerifyArguments& verification, int& code);
void add_network(CLI::App& app, Common& common, AllNetworkArguments& arguments, int& code);
void add_records(CLI::App& app, Common& common, RecordsArguments& arguments, int& code);
void add_opt(CLI::App& app, Common& common, OptArguments& arguments, int& code);
void add_explain(CLI::App& app, Common& common, std::string& rule, int& code);

}  // namespace tunesmith::cli
