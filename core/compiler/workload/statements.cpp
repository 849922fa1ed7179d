#include "tunesmith/workload/statements.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/definition.h"
#include "workload/leaves.h"
#include "workload/parser.h"
#include "workload/print_syntax.h"
#include "workload/program_builder.h"

namespace tunesmith::workload {

namespace {

std::string text_of(const Parts& parts) {
  std::string text = fmt::format("name: {}\n{}", parts.name, parts.inputs.empty() ? "" : "inputs:\n");
  for (const Buffer& input : parts.inputs)
    text += fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", input->name, fmt::join(input->shape, ", "),
                        input->dtype.str(), input->constant ? ", constant: true" : "");
  text += "compute: |\n";
  for (const StatementSyntax& statement : parts.statements) text += fmt::format("  {}\n", to_text(statement));
  text += fmt::format("outputs: [{}]\n{}", fmt::join(parts.outputs, ", "),
                      parts.strides.empty() ? "" : "strides:\n");
  for (const auto& [array, strides] : parts.strides)
    text += fmt::format("  {}: [{}]\n", array, fmt::join(strides, ", "));
  return text;
}

std::vector<SyntaxPtr> numbers(const std::vector<int64_t>& values) {
  std::vector<SyntaxPtr> made;
  for (const int64_t value : values) made.push_back(integer_leaf(value));
  return made;
}

}  // namespace

std::vector<StatementSyntax> parse_statements(std::string_view text, const std::string& file) {
  YamlNode scalar;
  scalar.location = {file, 1, 1};
  scalar.text = text;
  size_t begin = 0;
  for (int line = 1; begin <= text.size(); ++line, begin = std::min(text.find('\n', begin), text.size()) + 1)
    scalar.segments.push_back({begin, line, 1});
  return parse_statements(scalar);
}

Workload make_workload(Parts parts, const std::string& file) {
  Definition made;
  made.file = file;
  made.text = text_of(parts);
  made.name = std::move(parts.name);
  made.statements = std::move(parts.statements);
  for (const Buffer& input : parts.inputs)
    made.inputs.push_back({input->name,
                           {},
                           {},
                           numbers(input->shape),
                           type_leaf(input->dtype),
                           input->constant ? leaf(SyntaxKind::Name, "true") : nullptr});
  for (const std::string& output : parts.outputs) made.outputs.push_back({output, {}});
  for (const auto& [array, strides] : parts.strides) made.strides[array] = {{}, numbers(strides)};
  return instantiate(made, {});
}

}  // namespace tunesmith::workload
