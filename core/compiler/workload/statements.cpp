#include "tunesmith/workload/statements.h"

#include <algorithm>

#include "workload/parser.h"

namespace tunesmith::workload {

std::vector<StatementSyntax> parse_statements(std::string_view text, const std::string& file) {
  YamlNode scalar;
  scalar.location = {file, 1, 1};
  scalar.text = text;
  size_t begin = 0;
  for (int line = 1; begin <= text.size(); ++line, begin = std::min(text.find('\n', begin), text.size()) + 1)
    scalar.segments.push_back({begin, line, 1});
  return parse_statements(scalar);
}

}  // namespace tunesmith::workload
