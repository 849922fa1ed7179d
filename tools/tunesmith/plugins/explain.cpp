// `explain`: shows a rule for plugins, as docs/plugin-rules.md had it at build time.
#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "plugin_rules.h"

namespace tunesmith::cli {
namespace {

/// A row of the page's table: number, requirement, consequence, who enforces it.
using Rule = std::array<std::string, 4>;

std::vector<Rule> read_rules() {
  std::vector<Rule> rules;
  std::istringstream page(kPluginRules);
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 4 || !line.starts_with("| P") || std::isdigit(static_cast<unsigned char>(line[3])) == 0)
      continue;
    Rule rule;
    size_t begin = 2;
    for (std::string& cell : rule) {
      const size_t end = std::min(line.find(" |", begin), line.size());
      cell = line.substr(begin, end - begin);
      begin = std::min(end + 3, line.size());
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

int run_explain(const Common& common, const std::string& rule) {
  std::string number = rule;
  std::erase_if(number, [](char c) { return c == '[' || c == ']'; });
  if (!number.empty()) number[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(number[0])));
  std::vector<std::string> known;
  for (const Rule& one : read_rules()) {
    known.push_back(one[0]);
    if (one[0] != number) continue;
    if (common.json) {
      const nlohmann::json object = {
          {"rule", one[0]}, {"requirement", one[1]}, {"consequence", one[2]}, {"enforced_by", one[3]}};
      print_json(object);
    } else {
      fmt::print(output(), "{}: {}\n\nif violated: {}\nenforced by: {}\n", one[0], one[1], one[2], one[3]);
    }
    return kDone;
  }
  throw UserError(fmt::format("unknown rule '{}'", rule),
                  fmt::format("known: {} to {}", known.front(), known.back()));
}

}  // namespace tunesmith::cli
