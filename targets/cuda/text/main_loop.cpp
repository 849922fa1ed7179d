#include "text/main_loop.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

/// A kernel's code: `labels` are indices into `instructions`, texts such as "@P0 BRA `(.L_x_1)".
struct Code {
  std::vector<std::string> instructions;
  std::map<std::string, size_t> labels;
};

Code code_of(const std::string& disassembly, const std::string& kernel) {
  static const std::regex label(R"((\.L_x_\d+):)");
  static const std::regex instruction(R"(\s+/\*[0-9a-f]{4,}\*/\s+(.*\S)\s*;.*)");
  Code code;
  bool inside = false;
  std::istringstream lines(disassembly);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with(".text."))
      inside = line == fmt::format(".text.{}:", kernel);
    else if (inside && std::regex_match(line, match, label))
      code.labels[match[1]] = code.instructions.size();
    else if (inside && std::regex_match(line, match, instruction))
      code.instructions.push_back(match[1]);
  }
  return code;
}

/// Returns "HMMA" for "@!P0 HMMA.16816.F32 R0, R1, R2, R0".
std::string operation_of(const std::string& instruction) {
  static const std::regex pattern(R"((?:@!?U?P\w+\s+)?(\w+).*)");
  std::smatch match;
  return std::regex_match(instruction, match, pattern) ? match[1].str() : instruction;
}

/// A loop, from `first` to a branch back to it.
MainLoop loop_of(const Code& code, size_t first, size_t branch) {
  MainLoop loop;
  for (size_t i = first; i <= branch; ++i) ++loop.operations[operation_of(code.instructions[i])];
  loop.instructions = int(branch - first + 1);
  return loop;
}

int count(const MainLoop& loop, std::initializer_list<const char*> operations) {
  int all = 0;
  for (const char* const operation : operations) {
    const auto found = loop.operations.find(operation);
    if (found != loop.operations.end()) all += found->second;
  }
  return all;
}

/// Shares of multiplications: on matrix units, which count first, and by FFMA.
std::pair<double, double> worth(const MainLoop& loop) {
  return {double(count(loop, {"HMMA", "IMMA", "DMMA", "HGMMA", "IGMMA", "QGMMA"})) / loop.instructions,
          double(count(loop, {"FFMA", "DFMA", "HFMA2", "FMUL"})) / loop.instructions};
}

}  // namespace

std::string MainLoop::text() const {
  std::vector<std::pair<std::string, int>> sorted(operations.begin(), operations.end());
  std::ranges::sort(sorted, {}, [](const auto& one) { return std::pair(-one.second, one.first); });
  std::string parts;
  for (const auto& [operation, times] : sorted)
    parts += fmt::format("{} {} {} ({:.1f} %)", parts.empty() ? ":" : ",", operation, times,
                         100.0 * times / instructions);
  return fmt::format("{} instructions{}", instructions, parts);
}

std::optional<MainLoop> find_main_loop(const std::string& disassembly, const std::string& kernel) {
  static const std::regex branch(R"((?:@!?U?P\w+\s+)?BRA.*`\((\.L_x_\d+)\))");
  const Code code = code_of(disassembly, kernel);
  std::optional<MainLoop> best;
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(code.instructions[i], match, branch)) continue;
    const auto target = code.labels.find(match[1]);
    if (target == code.labels.end() || target->second > i) continue;
    MainLoop loop = loop_of(code, target->second, i);
    if (worth(loop) > (best ? worth(*best) : std::pair(0.0, 0.0))) best = std::move(loop);
  }
  return best;
}

}  // namespace tunesmith::cuda
