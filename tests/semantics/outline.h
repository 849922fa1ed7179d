// Prints a program's loops in a form that tests can compare.
#pragma once

#include <sstream>
#include <string>

#include <tunesmith/ir/printer.h>

namespace tunesmith_test {

/// The program's loops and blocks: "4 vectorized" for a loop, indented as they are nested.
inline std::string outline(const tunesmith::Program& program) {
  std::string text;
  std::istringstream lines(to_string(program));
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(' ');
    const std::string indent(begin == std::string::npos ? 0 : begin / 2, ' ');
    if (line.compare(begin, 4, "for ") == 0) {
      const std::string range = line.substr(line.find("0..") + 3);
      text += indent + range.substr(0, range.size() - 1) + "\n";
    } else if (line.compare(begin, 6, "block ") == 0) {
      text += indent + line.substr(begin + 6, line.find('(') - begin - 6) + "\n";
    }
  }
  return text;
}

}  // namespace tunesmith_test
