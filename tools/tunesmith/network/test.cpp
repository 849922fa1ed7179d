// `network test`: runs test cases in ONNX's folder format.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/forked_workers.h>
#include <tunesmith/network/evaluate.h>
#include <tunesmith/network/test_case.h>
#include <tunesmith/support/thread_pool.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "library.h"
#include "output.h"
#include "progress/progress.h"
#include "session.h"

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;
using network::ComputeNetwork;
using network::TestOutcome;
using network::TestResult;

struct Tested {
  fs::path folder;
  TestOutcome outcome;
};

constexpr double kTimeOutSeconds = 60;

std::string_view way_of(const NetworkTestArguments& arguments) {
  if (arguments.interpret) return "interpreted";
  return arguments.build ? "built" : "compiled";
}

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

/// Counts refused tests by cause, the most frequent first.
std::vector<std::pair<std::string, int64_t>> causes_of(const std::vector<Tested>& tests) {
  std::map<std::string, int64_t> counts;
  for (const Tested& test : tests)
    if (test.outcome.result == TestResult::Refused) ++counts[cause_of(test.outcome)];
  std::vector<std::pair<std::string, int64_t>> causes(counts.begin(), counts.end());
  std::ranges::stable_sort(causes, [](const auto& a, const auto& b) { return a.second > b.second; });
  return causes;
}

nlohmann::json json_of(const std::vector<Tested>& tests, std::string_view way) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [folder, outcome] : tests)
    list.push_back({{"folder", folder.string()},
                    {"result", name_of(outcome.result)},
                    {"operator", outcome.op},
                    {"cause", outcome.cause},
                    {"message", outcome.message}});
  return {{"computed", way},
          {"passed", count_of(tests, TestResult::Passed)},
          {"refused", count_of(tests, TestResult::Refused)},
          {"wrong", count_of(tests, TestResult::Wrong)},
          {"tests", std::move(list)}};
}

void print_text(const std::vector<Tested>& tests, std::string_view way) {
  for (const auto& [folder, outcome] : tests)
    if (outcome.result == TestResult::Wrong)
      fmt::print(output(), "wrong: {}: {}\n", folder.string(), outcome.message);
  const auto causes = causes_of(tests);
  if (!causes.empty()) fmt::print(output(), "unsupported, by cause:\n");
  for (const auto& [cause, count] : causes) fmt::print(output(), "{:6}  {}\n", count, cause);
  fmt::print(output(), "{}: {} passed, {} refused, {} wrong\n", way, count_of(tests, TestResult::Passed),
             count_of(tests, TestResult::Refused), count_of(tests, TestResult::Wrong));
}

std::string to_text(const TestOutcome& outcome) {
  return json_line({static_cast<int>(outcome.result), outcome.op, outcome.cause, outcome.message});
}

TestOutcome from_text(const std::string& text) {
  const nlohmann::json list = nlohmann::json::parse(text);
  return {static_cast<TestResult>(list.at(0).get<int>()), list.at(1), list.at(2), list.at(3)};
}

/// The ways to compute tests in this process.
std::vector<ComputeNetwork> ways_of(Session& session, const NetworkTestArguments& arguments) {
  if (!arguments.interpret) {
    const std::shared_ptr<Space> space = session.space_for_target();
    const ComputeNetwork compute =
        network::compiled_networks(space->target(), arguments.build ? &packaging_of(*space) : nullptr);
    return {[space, compute](const network::Network& network, const std::vector<Tensor>& given) {
      return compute(network, given);
    }};
  }
  const auto in = [](network::Precision precision) {
    return [precision](const network::Network& network, const std::vector<Tensor>& given) {
      return evaluate(network, given, precision);
    };
  };
  // Both precisions are tried: a quotient that is rounded to an integer depends on the types.
  return {in(network::Precision::F64), in(network::Precision::AsTyped)};
}

/// Prints outcomes in the order of the tests, as soon as all earlier ones are there.
class Printer {
 public:
  Printer(const std::vector<Tested>& tests, bool prints, bool quiet)
      : tests_(tests), prints_(prints), line_(quiet) {}

  void take(size_t test) {
    there_.resize(tests_.size(), false);
    there_[test] = true;
    ++done_;
    if (prints_) {
      line_.clear();
      for (; next_ < tests_.size() && there_[next_]; ++next_) print(tests_[next_]);
      std::fflush(output());
    }
    line_.say(fmt::format("{} of {} tests", done_, tests_.size()));
  }

 private:
  static void print(const Tested& test) {
    fmt::print(output(), "{:8} {}{}{}\n", name_of(test.outcome.result), test.folder.string(),
               test.outcome.message.empty() ? "" : ": ", test.outcome.message);
  }

  const std::vector<Tested>& tests_;
  const bool prints_;
  LiveLine line_;
  std::vector<bool> there_;
  size_t next_ = 0, done_ = 0;
};

void run_all(Session& session, const Common& common, const NetworkTestArguments& arguments,
             std::vector<Tested>& tests) {
  Printer printer(tests, arguments.verbose && !common.json, common.quiet || common.json);
  ForkedWork work;
  work.count = tests.size();
  work.processes = arguments.processes > 0 ? arguments.processes : static_cast<int>(available_processors());
  work.time_out_seconds = kTimeOutSeconds;
  work.begin = [&] {
    return [&, ways = ways_of(session, arguments)](size_t test) {
      return to_text(network::run_test(session.registry(), tests[test].folder, ways, arguments.operators));
    };
  };
  work.take = [&](size_t test, const std::string& answer, bool lost) {
    tests[test].outcome =
        lost ? TestOutcome{TestResult::Wrong, "", "its process ended", answer} : from_text(answer);
    printer.take(test);
  };
  run_forked(work);
}

}  // namespace

int run_network_test(const Common& common, const NetworkTestArguments& arguments) {
  Session session(common);
  std::vector<Tested> tests;
  for (const fs::path& folder : network::find_tests(arguments.folders)) tests.push_back({folder, {}});
  run_all(session, common, arguments, tests);
  if (common.json) {
    print_json(json_of(tests, way_of(arguments)));
  } else {
    print_text(tests, way_of(arguments));
  }
  return count_of(tests, TestResult::Wrong) == 0 ? kDone : kWrong;
}

}  // namespace tunesmith::cli
