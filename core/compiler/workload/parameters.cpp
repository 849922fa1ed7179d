#include "workload/parameters.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/support/error.h"
#include "tunesmith/workload/param_range.h"
#include "workload/type_names.h"

namespace tunesmith {
namespace workload {

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
  if (value.is_typed() && value.has_index_form()) return value;
  evaluator.rules().fail(named.value->place, fmt::format("'{}' is {}", named.name, value.describe()),
                         "expected an integer or a data type");
}

/// `what` names the value: "parameter 'n' of gmm".
int64_t integer_of(const std::string& what, std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range)
    throw UserError(fmt::format("{}: {} does not fit 64 bits", what, text));
  if (code != std::errc{} || end != text.data() + text.size())
    throw UserError(fmt::format("expected an integer for {}, found '{}'", what, text));
  return value;
}

std::string described(const Definition& definition, const std::string& name) {
  return fmt::format("parameter '{}' of {}", name, definition.name);
}

constexpr std::string_view kTypical = ":typical=";
/// Longer axes are refused later in any case.
constexpr int64_t kMaxRange = int64_t{1} << 34;
constexpr size_t kMaxTypical = 16;

Operand given_value(const Definition& definition, const ParamText& given, Operand::Kind kind) {
  const auto& [name, text] = given;
  if (kind == Operand::Kind::Type) {
    if (const auto type = DType::parse(text)) return Operand::of_type(*type);
    throw UserError(
        fmt::format("expected a data type for parameter '{}' of {}, found '{}'", name, definition.name, text),
        suggest_type(text, DType::names()));
  }
  return Operand::of(integer_of(described(definition, name), text));
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
    Operand holds = evaluator.evaluate(*requirement.condition);
    if (holds.is_typed() && holds.type.is_bool()) {
      if (!Analyzer().can_prove(holds.expr))
        evaluator.rules().fail(requirement.place,
                               fmt::format("{} requires {}, which does not hold for every value of a range",
                                           definition.name, requirement.text));
      holds = Operand::of_bool(true);
    }
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

/// Replaces a range of one value by a number.
void add_range(Parameters& made, const std::string& name, ParamRange range, std::string& listed) {
  WorkloadParam resolved{name, range.lowest};
  if (range.lowest == range.highest) {
    made.names[name] = Operand::of(range.lowest);
  } else {
    const Var var = Var::parameter(name, range.lowest, range.highest);
    made.names[name] = Operand::of(var, static_cast<double>(range.highest));
    made.varying.push_back({var, range.typical});
    resolved.value = std::move(range);
  }
  listed += fmt::format("{}{}={}", listed.empty() ? "" : ",", name, resolved.value_text());
  made.values.push_back(std::move(resolved));
}

}  // namespace

Parameters resolve_parameters(const Definition& definition, const std::vector<ParamText>& given) {
  check_names(definition, given);
  Parameters made;
  std::string listed;
  for (const NamedValue& param : definition.params) {
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const auto& each) { return each.first == param.name; });
    const Operand otherwise = default_value(definition, param, made.names);
    if (found != given.end() && otherwise.kind != Operand::Kind::Type) {
      if (auto range = read_range(found->second, described(definition, param.name))) {
        add_range(made, param.name, std::move(*range), listed);
        continue;
      }
    }
    Operand value = otherwise;
    if (found == given.end() && otherwise.is_typed())
      throw UserError(fmt::format("parameter '{}' of {} would be {}, which varies", param.name,
                                  definition.name, to_string(otherwise.expr)),
                      fmt::format("give it a value: {}=...", param.name));
    if (found != given.end()) value = given_value(definition, *found, otherwise.kind);
    WorkloadParam resolved{param.name, value.integer};
    if (value.kind == Operand::Kind::Type) resolved.value = value.type;
    const bool at_default =
        !otherwise.is_typed() && value.integer == otherwise.integer && value.type == otherwise.type;
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

}  // namespace workload

std::optional<ParamRange> read_range(std::string_view text, const std::string& what) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(dots + 2);
  const size_t typical = behind.find(workload::kTypical);
  ParamRange range;
  range.lowest = workload::integer_of(what, text.substr(0, dots));
  range.highest = workload::integer_of(what, behind.substr(0, typical));
  if (range.lowest < 1 || range.highest < range.lowest || range.highest > workload::kMaxRange)
    throw UserError(fmt::format("{}: '{}' is not a range of extents", what, text),
                    "expected LOWEST..HIGHEST, from 1 to 2^34");
  if (typical == std::string_view::npos) return range;
  std::string_view rest = behind.substr(typical + workload::kTypical.size());
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const int64_t value = workload::integer_of(what, rest.substr(0, comma));
    if (value < range.lowest || value > range.highest || range.typical.size() == workload::kMaxTypical)
      throw UserError(fmt::format("{}: {} is not a typical value", what, value),
                      fmt::format("expected at most {} values of {}..{}", workload::kMaxTypical, range.lowest,
                                  range.highest));
    range.typical.push_back(value);
    if (more) rest = rest.substr(comma + 1);
  }
  std::ranges::sort(range.typical);
  range.typical.erase(std::ranges::unique(range.typical).begin(), range.typical.end());
  return range;
}

}  // namespace tunesmith
