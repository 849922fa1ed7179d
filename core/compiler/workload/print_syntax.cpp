#include "workload/print_syntax.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/workload/definition.h"
#include "workload/parser.h"

namespace tunesmith::workload {

namespace {

Binding binding_of(const Syntax& value) {
  if (value.kind == SyntaxKind::Binary) return binding(value.name);
  if (value.kind == SyntaxKind::Not) return Binding::Not;
  if (value.kind == SyntaxKind::Negate) return Binding::Negation;
  // A reduction needs brackets wherever it is an operand.
  return value.kind == SyntaxKind::Reduce ? Binding::None : Binding::Operand;
}

/// Adds brackets around a value of lower precedence.
std::string printed(const Syntax& value, Binding least = Binding::None);

std::string printed(const std::vector<AxisSyntax>& axes) {
  std::vector<std::string> parts;
  for (const AxisSyntax& axis : axes)
    parts.push_back(axis.extent ? axis.name + "<" + printed(*axis.extent, Binding::Sum) : axis.name);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string printed(const std::vector<SyntaxPtr>& values) {
  std::vector<std::string> parts;
  for (const SyntaxPtr& value : values) parts.push_back(printed(*value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string printed(const Syntax& value, Binding least) {
  const Binding own = binding_of(value);
  if (own < least) return "(" + printed(value) + ")";
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
      return fmt::format("{}({})", value.name, printed(value.args));
    case SyntaxKind::Access:
      break;
  }
  return fmt::format("{}[{}]", value.name, printed(value.args));
}

}  // namespace

std::string to_text(const StatementSyntax& statement) {
  return fmt::format("{}[{}] = {}", statement.target, printed(statement.axes), printed(*statement.value));
}

std::string to_text(const Definition& definition) {
  std::string text =
      fmt::format("name: {}\n{}", definition.name, definition.params.empty() ? "" : "params:\n");
  for (const NamedValue& param : definition.params)
    text += fmt::format("  {}: {}\n", param.name, printed(*param.value));
  if (!definition.inputs.empty()) text += "inputs:\n";
  for (const InputSyntax& input : definition.inputs)
    text +=
        fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", input.name, printed(input.shape),
                    printed(*input.dtype), input.constant ? ", constant: " + printed(*input.constant) : "");
  text += "compute: |\n";
  for (const StatementSyntax& statement : definition.statements)
    text += fmt::format("  {}\n", to_text(statement));
  std::vector<std::string> outputs;
  for (const OutputSyntax& output : definition.outputs) outputs.push_back(output.name);
  text += fmt::format("outputs: [{}]\n{}", fmt::join(outputs, ", "),
                      definition.strides.empty() ? "" : "strides:\n");
  for (const auto& [array, syntax] : definition.strides)
    text += fmt::format("  {}: [{}]\n", array, printed(syntax.strides));
  return text;
}

}  // namespace tunesmith::workload
