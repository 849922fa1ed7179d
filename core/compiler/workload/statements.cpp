#include "tunesmith/workload/statements.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/definition.h"
#include "workload/parser.h"
#include "workload/program_builder.h"

namespace tunesmith::workload {

namespace {

Binding binding_of(const Syntax& value) {
  if (value.kind == SyntaxKind::Binary) return binding(value.name);
  if (value.kind == SyntaxKind::Not) return Binding::Not;
  if (value.kind == SyntaxKind::Negate) return Binding::Negation;
  // A reduction stands in brackets wherever it is an operand.
  return value.kind == SyntaxKind::Reduce ? Binding::None : Binding::Operand;
}

/// In brackets where it binds less than that.
std::string printed(const Syntax& value, Binding least = Binding::None);

std::string printed(const std::vector<AxisSyntax>& axes) {
  std::vector<std::string> parts;
  for (const AxisSyntax& axis : axes)
    parts.push_back(axis.extent ? axis.name + "<" + printed(*axis.extent, Binding::Sum) : axis.name);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string printed(const Syntax& value, Binding least) {
  const Binding own = binding_of(value);
  if (own < least) return "(" + printed(value) + ")";
  std::vector<std::string> args;
  switch (value.kind) {
    case SyntaxKind::Integer:
    case SyntaxKind::Real:
    case SyntaxKind::Name:
      return value.name;
    case SyntaxKind::Negate:
      return "-" + printed(*value.args[0], own);
    case SyntaxKind::Not:
      return "not " + printed(*value.args[0], own);
    case SyntaxKind::Binary:
      return fmt::format("{} {} {}",
                         printed(*value.args[0], own == Binding::Comparison ? stronger(own) : own),
                         value.name, printed(*value.args[1], stronger(own)));
    case SyntaxKind::Reduce:
      return fmt::format("{}({}) {}", value.name, printed(value.axes),
                         printed(*value.args[0], Binding::Operand));
    case SyntaxKind::Call:
    case SyntaxKind::Access:
      break;
  }
  for (const SyntaxPtr& arg : value.args) args.push_back(printed(*arg));
  const bool is_call = value.kind == SyntaxKind::Call;
  return fmt::format("{}{}{}{}", value.name, is_call ? '(' : '[', fmt::join(args, ", "), is_call ? ')' : ']');
}

std::string text_of(const Parts& parts) {
  std::string text = fmt::format("name: {}\n{}", parts.name, parts.inputs.empty() ? "" : "inputs:\n");
  for (const Buffer& input : parts.inputs)
    text += fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", input->name, fmt::join(input->shape, ", "),
                        input->dtype.str(), input->constant ? ", constant: true" : "");
  text += "compute: |\n";
  for (const StatementSyntax& statement : parts.statements)
    text +=
        fmt::format("  {}[{}] = {}\n", statement.target, printed(statement.axes), printed(*statement.value));
  text += fmt::format("outputs: [{}]\n{}", fmt::join(parts.outputs, ", "),
                      parts.strides.empty() ? "" : "strides:\n");
  for (const auto& [array, strides] : parts.strides)
    text += fmt::format("  {}: [{}]\n", array, fmt::join(strides, ", "));
  return text;
}

SyntaxPtr leaf(SyntaxKind kind, std::string text, int64_t integer = 0) {
  auto made = std::make_unique<Syntax>();
  made->kind = kind;
  made->name = std::move(text);
  made->integer = integer;
  return made;
}

std::vector<SyntaxPtr> numbers(const std::vector<int64_t>& values) {
  std::vector<SyntaxPtr> made;
  for (const int64_t value : values) made.push_back(leaf(SyntaxKind::Integer, std::to_string(value), value));
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
                           leaf(SyntaxKind::Name, input->dtype.str()),
                           input->constant ? leaf(SyntaxKind::Name, "true") : nullptr});
  for (const std::string& output : parts.outputs) made.outputs.push_back({output, {}});
  for (const auto& [array, strides] : parts.strides) made.strides[array] = {{}, numbers(strides)};
  return instantiate(made, {});
}

}  // namespace tunesmith::workload
