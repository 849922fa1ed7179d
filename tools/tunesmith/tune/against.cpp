#include "against.h"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/process/run_process.h>
#include <tunesmith/support/error.h>

namespace tunesmith::cli {
namespace {

/// The interpreter that has the package; `python -m tunesmith` sets the variable.
std::string python() {
  const char* const named = std::getenv("TUNESMITH_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

/// The standard output of a process; "" if it cannot be started.
std::string printed_by(const std::vector<std::string>& words) {
  try {
    return run_process(words, {.errors = RunOptions::Errors::Inherited, .own_group = false}).output;
  } catch (const EnvironmentError&) {
    return {};
  }
}

nlohmann::json ask(const std::string& library, std::vector<std::string> options) {
  std::vector<std::string> words{python(), "-m", "tunesmith.against", library};
  words.insert(words.end(), options.begin(), options.end());
  nlohmann::json answer = nlohmann::json::parse(printed_by(words), nullptr, false);
  if (!answer.is_object()) {
    throw EnvironmentError(fmt::format(
        "--against calls libraries from Python, but '{}' cannot import the package tunesmith: run `pip "
        "install .` in a clone (docs/python.md), or set TUNESMITH_PYTHON to another Python",
        words.front()));
  }
  if (answer.contains("error"))
    throw UserError(SourceLocation{"--against"}, answer.at("error").get<std::string>());
  return answer;
}

}  // namespace

void require_against(const TuneArguments& arguments, const Workload& workload) {
  if (!workload.program.parameters.empty())
    throw UserError("--against supports only fixed shapes",
                    "give every parameter of the workload a single value");
  ask(arguments.against, {"--check", arguments.workloads.front()});
}

nlohmann::json time_against(const Common& common, const TuneArguments& arguments, const TuneResult& result) {
  std::vector<std::string> options{
      "--record", result.best_id,           "--database", database_path(arguments.database),
      "--spaces", find_spaces_file(common), "--space",    result.best_space};
  for (const std::string& path : common.plugin_paths) options.insert(options.end(), {"--plugin-path", path});
  return ask(arguments.against, std::move(options));
}

}  // namespace tunesmith::cli
