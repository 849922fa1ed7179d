// `network test`: folders of ONNX's test format.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_codes.h"
#include "network_json.h"
#include "network_test_case.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;

struct Tested {
  fs::path folder;
  TestOutcome outcome;
};

std::string_view name_of(TestResult result) {
  if (result == TestResult::Passed) return "passed";
  return result == TestResult::Refused ? "refused" : "wrong";
}

int64_t count_of(const std::vector<Tested>& tests, TestResult result) {
  return std::ranges::count_if(tests, [&](const Tested& test) { return test.outcome.result == result; });
}

std::string cause_of(const TestOutcome& outcome) {
  return outcome.op.empty() ? outcome.cause : outcome.op + ": " + outcome.cause;
}

/// How many tests are refused for each cause, the most frequent first.
std::vector<std::pair<std::string, int64_t>> causes_of(const std::vector<Tested>& tests) {
  std::map<std::string, int64_t> counts;
  for (const Tested& test : tests)
    if (test.outcome.result == TestResult::Refused) ++counts[cause_of(test.outcome)];
  std::vector<std::pair<std::string, int64_t>> causes(counts.begin(), counts.end());
  std::ranges::stable_sort(causes, [](const auto& a, const auto& b) { return a.second > b.second; });
  return causes;
}

nlohmann::json json_of(const std::vector<Tested>& tests) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [folder, outcome] : tests)
    list.push_back({{"folder", folder.string()},
                    {"result", name_of(outcome.result)},
                    {"operator", outcome.op},
                    {"cause", outcome.cause},
                    {"message", outcome.message}});
  return {{"computed", "interpreted"},
          {"passed", count_of(tests, TestResult::Passed)},
          {"refused", count_of(tests, TestResult::Refused)},
          {"wrong", count_of(tests, TestResult::Wrong)},
          {"tests", std::move(list)}};
}

void print_text(const std::vector<Tested>& tests) {
  for (const auto& [folder, outcome] : tests)
    if (outcome.result == TestResult::Wrong)
      fmt::print(output(), "wrong: {}: {}\n", folder.string(), outcome.message);
  const auto causes = causes_of(tests);
  if (!causes.empty()) fmt::print(output(), "refused, by cause:\n");
  for (const auto& [cause, count] : causes) fmt::print(output(), "{:6}  {}\n", count, cause);
  fmt::print(output(), "interpreted: {} passed, {} refused, {} wrong\n", count_of(tests, TestResult::Passed),
             count_of(tests, TestResult::Refused), count_of(tests, TestResult::Wrong));
}

}  // namespace

int run_network_test(const Common& common, const NetworkTestArguments& arguments) {
  Session session(common);
  std::vector<Tested> tests;
  for (const fs::path& folder : find_tests(arguments.folders)) {
    tests.push_back({folder, run_test(session.registry(), folder)});
    const TestOutcome& outcome = tests.back().outcome;
    if (!arguments.verbose || common.json) continue;
    fmt::print(output(), "{:8} {}{}{}\n", name_of(outcome.result), folder.string(),
               outcome.message.empty() ? "" : ": ", outcome.message);
  }
  if (common.json) {
    print_network_json(json_of(tests));
  } else {
    print_text(tests);
  }
  return count_of(tests, TestResult::Wrong) == 0 ? kDone : kWrong;
}

}  // namespace tunesmith::cli
