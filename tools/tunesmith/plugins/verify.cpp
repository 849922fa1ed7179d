#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/conformance/conformance.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {

using namespace conformance;

int run_plugins_verify(const Common& common, const VerifyArguments& arguments) {
  const SpacesFile spaces = SpacesFile::load(find_spaces_file(common));
  PluginSearch search = plugin_search(common, &spaces);
  search.command_line.insert(search.command_line.begin(), {arguments.path, {}});
  VerifyOptions options;
  options.workloads = arguments.workloads;
  options.seconds = arguments.seconds;
  options.checks = arguments.checks;
  for (const std::string& text : arguments.expected) options.expected.push_back(Expectation::parse(text));

  const Report report = verify_pack(arguments.path, search, spaces, options);
  nlohmann::json counts;
  std::string summary;
  for (const Outcome outcome : {Outcome::Passed, Outcome::Failed, Outcome::Skipped, Outcome::Unsupported,
                                Outcome::ExpectedFailure, Outcome::UnexpectedPass}) {
    const std::string name(conformance::outcome_name(outcome));
    counts[name] = report.count(outcome);
    if (report.count(outcome) > 0) {
      summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", report.count(outcome), name);
    }
  }
  if (common.json) {
    nlohmann::json checks = nlohmann::json::array();
    for (const CheckResult& result : report.results) {
      checks.push_back({{"kind", kind_name(result.kind)},
                        {"id", result.id},
                        {"check", result.check},
                        {"rule", result.rule},
                        {"outcome", conformance::outcome_name(result.outcome)},
                        {"reason", result.reason},
                        {"seconds", result.seconds}});
    }
    const nlohmann::json object = {{"ok", report.ok()}, {"counts", counts}, {"checks", checks}};
    print_json(object);
  } else {
    fmt::print(output(), "{}{}\n", report.str(), summary);
  }
  return report.ok() ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
