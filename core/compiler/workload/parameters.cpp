#include "workload/parameters.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "workload/type_names.h"

namespace tunesmith::workload {

namespace {

bool uses_names(const Syntax& syntax) {
  if (syntax.kind == SyntaxKind::Name) return !DType::parse(syntax.name);
  return std::any_of(syntax.args.begin(), syntax.args.end(),
                     [](const SyntaxPtr& arg) { return uses_names(*arg); });
}

Operand default_value(const Definition& definition, const NamedValue& named, const Environment& names) {
  Evaluator evaluator(definition.file, names);
  const Operand value = evaluator.evaluate(*named.value);
  if (value.kind == Operand::Kind::Boolean) return Operand::of(value.integer);
  if (value.kind == Operand::Kind::Integer || value.kind == Operand::Kind::Type) return value;
  evaluator.rules().fail(named.value->place, fmt::format("'{}' is {}", named.name, value.describe()),
                         "expected an integer or a data type");
}

Operand given_value(const Definition& definition, const ParamText& given, Operand::Kind kind) {
  const auto& [name, text] = given;
  if (kind == Operand::Kind::Type) {
    if (const auto type = DType::parse(text)) return Operand::of_type(*type);
    throw UserError(
        fmt::format("parameter '{}' of {} is a data type, '{}' is none", name, definition.name, text),
        suggest_type(text, DType::names()));
  }
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    throw UserError(
        fmt::format("parameter '{}' of {}: {} does not fit 64 bits", name, definition.name, text));
  }
  if (code != std::errc{} || end != text.data() + text.size()) {
    throw UserError(
        fmt::format("parameter '{}' of {} is an integer, '{}' is none", name, definition.name, text));
  }
  return Operand::of(value);
}

void check_names(const Definition& definition, const std::vector<ParamText>& given) {
  std::vector<std::string> known;
  for (const NamedValue& param : definition.params) known.push_back(param.name);
  std::set<std::string> seen;
  for (const auto& [name, text] : given) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UserError(fmt::format("{} has no parameter '{}'", definition.name, name), suggest(name, known));
    }
    if (!seen.insert(name).second)
      throw UserError(fmt::format("parameter '{}' of {} is given twice", name, definition.name));
  }
}

void check_requirements(const Definition& definition, const Environment& names) {
  Evaluator evaluator(definition.file, names);
  for (const Requirement& requirement : definition.requirements) {
    const Operand holds = evaluator.evaluate(*requirement.condition);
    if (holds.kind != Operand::Kind::Boolean) {
      evaluator.rules().fail(requirement.place, fmt::format("'{}' is {}", requirement.text, holds.describe()),
                             "expected a condition: a % b == 0");
    }
    if (holds.integer == 0) {
      evaluator.rules().fail(requirement.place,
                             fmt::format("{} requires {}", definition.name, requirement.text),
                             fmt::format("here {}", evaluator.values_used(*requirement.condition)));
    }
  }
}

}  // namespace

Parameters resolve_parameters(const Definition& definition, const std::vector<ParamText>& given) {
  check_names(definition, given);
  Parameters made;
  std::string listed;
  for (const NamedValue& param : definition.params) {
    const Operand otherwise = default_value(definition, param, made.names);
    Operand value = otherwise;
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const auto& each) { return each.first == param.name; });
    if (found != given.end()) value = given_value(definition, *found, otherwise.kind);
    WorkloadParam resolved{param.name, value.integer};
    if (value.kind == Operand::Kind::Type) resolved.value = value.type;
    const bool at_default = value.integer == otherwise.integer && value.type == otherwise.type;
    if (!at_default || !uses_names(*param.value)) {
      listed += fmt::format("{}{}={}", listed.empty() ? "" : ",", param.name, resolved.value_text());
    }
    made.values.push_back(std::move(resolved));
    made.names[param.name] = std::move(value);
  }
  made.key = listed.empty() ? definition.name : definition.name + ":" + listed;
  for (const NamedValue& let : definition.lets) {
    made.names[let.name] = default_value(definition, let, made.names);
  }
  check_requirements(definition, made.names);
  return made;
}

}  // namespace tunesmith::workload
