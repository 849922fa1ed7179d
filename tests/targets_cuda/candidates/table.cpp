#include "table.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::testing {
namespace {

using nlohmann::json;

int count_of(const std::map<std::string, int>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

/// The quantile at `share`; 0 without values.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

std::string share(int part, int whole) {
  return whole == 0 ? "-" : fmt::format("{:.0f}%", 100.0 * part / whole);
}

std::vector<double> checks_of(const OperatorCounts& counts) {
  std::vector<double> checks;
  for (size_t i = 0; i < counts.running.size(); ++i)
    checks.push_back(counts.finding[i] + counts.compiling[i] + counts.running[i]);
  return checks;
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add(std::map<std::string, int>& all, const std::map<std::string, int>& more) {
  for (const auto& [name, count] : more) all[name] += count;
}

OperatorCounts sum_of(const std::vector<OperatorCounts>& operators) {
  OperatorCounts sum;
  sum.operator_id = "all";
  for (const OperatorCounts& one : operators) {
    sum.drawn += one.drawn;
    sum.candidates += one.candidates;
    sum.fitting += one.fitting;
    sum.twins += one.twins;
    add(sum.kept, one.kept);
    add(sum.reasons, one.reasons);
    add(sum.mistakes, one.mistakes);
    for (const auto& [name, counts] : one.architectures) {
      add(sum.architectures[name].refused, counts.refused);
      sum.architectures[name].rewritten += counts.rewritten;
      append(sum.architectures[name].seconds, counts.seconds);
    }
    append(sum.finding, one.finding);
    append(sum.compiling, one.compiling);
    append(sum.running, one.running);
    append(sum.references, one.references);
    sum.elapsed += one.elapsed;
  }
  return sum;
}

/// "2/0": the numbers for the architectures, in order.
std::string refused(const OperatorCounts& counts, const std::vector<std::string>& architectures,
                    const char* cause) {
  std::vector<int> numbers;
  for (const std::string& name : architectures) {
    const auto found = counts.architectures.find(name);
    if (found == counts.architectures.end()) return "-";
    numbers.push_back(count_of(found->second.refused, cause));
  }
  return fmt::format("{}", fmt::join(numbers, "/"));
}

/// The numbers of candidates that fit in another form, for the architectures in order.
std::string rewritten(const OperatorCounts& counts, const std::vector<std::string>& architectures) {
  std::vector<int> numbers;
  for (const std::string& name : architectures) {
    const auto found = counts.architectures.find(name);
    if (found == counts.architectures.end()) return "-";
    numbers.push_back(found->second.rewritten);
  }
  return fmt::format("{}", fmt::join(numbers, "/"));
}

std::string line_of(const OperatorCounts& counts, const std::vector<std::string>& architectures) {
  int wrong = 0, others = 0;
  std::vector<std::string> names;
  for (const auto& [name, number] : counts.mistakes) {
    if (name == "race") continue;
    (name == "wrong_result" ? wrong : others) += number;
    if (name != "wrong_result") names.push_back(fmt::format("{} {}", name, number));
  }
  const bool compiled = !counts.architectures.empty();
  const std::vector<double> checks = checks_of(counts);
  std::vector<double> compiles;
  for (const auto& [name, architecture] : counts.architectures) append(compiles, architecture.seconds);
  return fmt::format(
      "{:<8} {:>5} {:>7} {:>6} {:>4} {:>5} {:>6} {:>6} {:>6} {:>6} {:>5} {:>5} {:>7} {:>5} {:>5} {:>6} "
      "{:>6.3f} "
      "{:>6.3f} {:>6.3f} "
      "{:>6.3f} {:>6.3f} {:>6.3f}{}\n",
      counts.operator_id, counts.drawn, count_of(counts.kept, "illegal_schedule"),
      count_of(counts.kept, "verify_limits"), count_of(counts.kept, "same"), counts.candidates,
      rewritten(counts, architectures), refused(counts, architectures, "over_limit"),
      refused(counts, architectures, "spills"), refused(counts, architectures, "serialised"),
      refused(counts, architectures, "compile_error"),
      compiled ? share(counts.fitting, counts.candidates) : "-",
      compiled ? share(counts.fitting, counts.drawn - count_of(counts.kept, "same")) : "-", wrong,
      count_of(counts.mistakes, "race"), others, quantile(checks, 0.5), quantile(checks, 0.95),
      quantile(counts.finding, 0.5), quantile(counts.compiling, 0.5), quantile(counts.running, 0.5),
      quantile(compiles, 0.5), names.empty() ? "" : fmt::format("  {}", fmt::join(names, ", ")));
}

}  // namespace

std::string table_of(const std::vector<OperatorCounts>& operators,
                     const std::vector<std::string>& architectures) {
  std::string text = fmt::format(
      "{:<8} {:>5} {:>7} {:>6} {:>4} {:>5} {:>6} {:>6} {:>6} {:>6} {:>5} {:>5} {:>7} {:>5} {:>5} {:>6} {:>6} "
      "{:>6} "
      "{:>6} {:>6} {:>6} {:>6}\n",
      "operator", "drawn", "illegal", "limits", "same", "cand.", "again", "over", "spills", "serial", "error",
      "fit", "ofdrawn", "wrong", "races", "others", "check", "p95", "twin", "build", "run", "nvrtc");
  for (const OperatorCounts& one : operators) text += line_of(one, architectures);
  const OperatorCounts sum = sum_of(operators);
  if (operators.size() > 1) text += line_of(sum, architectures);
  for (const auto& [reason, count] : sum.reasons) text += fmt::format("refused {:>6}: {}\n", count, reason);
  return text;
}

json json_of(const OperatorCounts& counts) {
  json architectures = json::object();
  for (const auto& [name, one] : counts.architectures)
    architectures[name] = {{"refused", one.refused},
                           {"rewritten", one.rewritten},
                           {"median_compile_seconds", quantile(one.seconds, 0.5)}};
  const std::vector<double> checks = checks_of(counts);
  return {{"operator", counts.operator_id},
          {"space", counts.space},
          {"workload", counts.workload},
          {"drawn", counts.drawn},
          {"no_candidates", counts.kept},
          {"refused", counts.reasons},
          {"candidates", counts.candidates},
          {"fitting", counts.fitting},
          {"twins", counts.twins},
          {"shapes", counts.shapes},
          {"architectures", architectures},
          {"mistakes", counts.mistakes},
          {"check_seconds", {{"median", quantile(checks, 0.5)}, {"p95", quantile(checks, 0.95)}}},
          {"median_seconds",
           {{"twin", quantile(counts.finding, 0.5)},
            {"build", quantile(counts.compiling, 0.5)},
            {"run", quantile(counts.running, 0.5)},
            {"reference", quantile(counts.references, 0.5)}}},
          {"references", counts.references.size()},
          {"elapsed_seconds", counts.elapsed}};
}

}  // namespace tunesmith::testing
