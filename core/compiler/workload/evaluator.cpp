#include "workload/evaluator.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "tunesmith/ir/regions.h"
#include "tunesmith/support/error.h"
#include "workload/names.h"
#include "workload/type_names.h"

namespace tunesmith::workload {

Evaluator::~Evaluator() = default;

Operand Evaluator::evaluate(const Syntax& syntax) {
  switch (syntax.kind) {
    case SyntaxKind::Integer:
      return Operand::of(syntax.integer);
    case SyntaxKind::Real:
      return Operand::of_real(syntax.real);
    case SyntaxKind::Name:
      return name(syntax);
    case SyntaxKind::Negate:
      return rules_.negate(syntax.place, evaluate(*syntax.args[0]));
    case SyntaxKind::Not:
      return rules_.logical_not(syntax.place, evaluate(*syntax.args[0]));
    case SyntaxKind::Binary: {
      const Operand a = evaluate(*syntax.args[0]);
      return rules_.binary(syntax.place, syntax.name, a, evaluate(*syntax.args[1]));
    }
    case SyntaxKind::Call:
      return call(syntax);
    case SyntaxKind::Access:
      return access(syntax);
    case SyntaxKind::Reduce:
      break;
  }
  return reduce(syntax);
}

int64_t Evaluator::integer(const Syntax& syntax, std::string_view what) {
  const Operand value = evaluate(syntax);
  if (value.kind == Operand::Kind::Integer) return value.integer;
  rules_.fail(syntax.place, fmt::format("expected an integer for {}, found {}", what, value.describe()),
              value.kind == Operand::Kind::Real ? "divide integers with '//'" : "");
}

DType Evaluator::type(const Syntax& syntax, std::string_view what) {
  // A misspelt type gets its own message, better than that of an undefined name.
  if (syntax.kind == SyntaxKind::Name && !names_.contains(syntax.name) && !DType::parse(syntax.name)) {
    std::vector<std::string> known = DType::names();
    for (const auto& [each, value] : names_) {
      if (value.kind == Operand::Kind::Type) known.push_back(each);
    }
    rules_.fail(syntax.place, fmt::format("'{}' is not a data type", syntax.name),
                suggest_type(syntax.name, known));
  }
  const Operand value = evaluate(syntax);
  if (value.kind != Operand::Kind::Type) {
    rules_.fail(syntax.place, fmt::format("expected a data type for {}, found {}", what, value.describe()));
  }
  return value.type;
}

std::string Evaluator::values_used(const Syntax& syntax) const {
  std::string text;
  std::set<std::string> seen;
  const auto visit = [&](const auto& self, const Syntax& node) -> void {
    if (node.kind == SyntaxKind::Name && seen.insert(node.name).second) {
      const auto found = names_.find(node.name);
      if (found != names_.end() && found->second.kind == Operand::Kind::Integer) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", node.name, found->second.integer);
      }
    }
    for (const SyntaxPtr& arg : node.args) self(self, *arg);
  };
  visit(visit, syntax);
  return text;
}

std::vector<std::string> Evaluator::known_names() const {
  std::vector<std::string> known;
  for (const auto& [each, value] : names_) known.push_back(each);
  return known;
}

Operand Evaluator::name(const Syntax& syntax) {
  if (const auto found = names_.find(syntax.name); found != names_.end()) return found->second;
  if (const auto parsed = DType::parse(syntax.name)) return Operand::of_type(*parsed);
  if (syntax.name == "true" || syntax.name == "false") return Operand::of_bool(syntax.name == "true");
  if (syntax.name == "inf") return Operand::of_real(std::numeric_limits<double>::infinity());
  rules_.fail(syntax.place, fmt::format("'{}' is not defined", syntax.name),
              suggest(syntax.name, known_names()));
}

Operand Evaluator::access(const Syntax& syntax) {
  rules_.fail(syntax.place, fmt::format("'{}[...]' is not allowed here", syntax.name),
              "expected numbers and parameters");
}

Operand Evaluator::reduce(const Syntax& syntax) {
  rules_.fail(syntax.place, fmt::format("the reduction '{}' is not allowed here", syntax.name),
              "expected numbers and parameters");
}

Operand Evaluator::inside(const Syntax& syntax) {
  rules_.fail(syntax.place, "'inside' is not allowed here", "expected numbers and parameters");
}

Operand Evaluator::select(const Syntax& syntax) {
  const Operand condition = evaluate(*syntax.args[0]);
  const Operand a = evaluate(*syntax.args[1]);
  return rules_.select(syntax.place, condition, a, evaluate(*syntax.args[2]));
}

void Evaluator::expect_arguments(const Syntax& call, size_t count) const {
  if (call.args.size() == count) return;
  rules_.fail(call.place, fmt::format("{} takes {} argument{}, found {}", call.name, count,
                                      count == 1 ? "" : "s", call.args.size()));
}

Operand Evaluator::type_function(const Syntax& syntax) {
  expect_arguments(syntax, 1);
  const DType of = type(*syntax.args[0], fmt::format("the argument of '{}'", syntax.name));
  if (syntax.name == "accumulator") return Operand::of_type(accumulator_type(of));
  if (of.is_bool())
    rules_.fail(syntax.place, fmt::format("'{}' takes a type of numbers, not bool", syntax.name));
  return Operand::of(reduction_identity(syntax.name == "lowest" ? ExprKind::Max : ExprKind::Min, of));
}

Operand Evaluator::call(const Syntax& syntax) {
  const std::string& function = syntax.name;
  if (function == "inside") return inside(syntax);
  if (function == "at") {
    rules_.fail(syntax.place, "at() must be a whole index of a read",
                "write W[at(I[i]), k]; what is added to the index goes into the parentheses");
  }
  if (function == "select") {
    expect_arguments(syntax, 3);
    return select(syntax);
  }
  if (function == "lowest" || function == "highest" || function == "accumulator")
    return type_function(syntax);
  if (function == "max" || function == "min") {
    if (syntax.args.size() < 2) {
      rules_.fail(syntax.place, fmt::format("{} takes at least two values", function),
                  fmt::format("to reduce over an axis, give its extent: {}(k<n) expression", function));
    }
    Operand value = evaluate(*syntax.args[0]);
    for (size_t i = 1; i < syntax.args.size(); ++i) {
      value = rules_.binary(syntax.place, function, value, evaluate(*syntax.args[i]));
    }
    return value;
  }
  if (function == "relu") {
    expect_arguments(syntax, 1);
    return rules_.binary(syntax.place, "max", evaluate(*syntax.args[0]), Operand::of(0));
  }
  if (function == "bit_not") {
    expect_arguments(syntax, 1);
    return rules_.bit_not(syntax.place, evaluate(*syntax.args[0]));
  }
  if (const auto op = parse_math_op(function)) {
    std::vector<Operand> args;
    for (const SyntaxPtr& arg : syntax.args) args.push_back(evaluate(*arg));
    return rules_.math(syntax.place, *op, args);
  }
  std::vector<std::string> known = function_names();
  known.insert(known.end(), DType::names().begin(), DType::names().end());
  for (const auto& [each, value] : names_) {
    if (value.kind == Operand::Kind::Type) known.push_back(each);
  }
  if (std::find(known.begin(), known.end(), function) == known.end()) {
    if (names_.contains(function)) {
      rules_.fail(syntax.place, fmt::format("'{}' is a number, not a function", function),
                  "multiply with '*'");
    }
    rules_.fail(syntax.place, fmt::format("unknown function '{}'", function), suggest_type(function, known));
  }
  expect_arguments(syntax, 1);
  Syntax as_name;
  as_name.kind = SyntaxKind::Name;
  as_name.place = syntax.place;
  as_name.name = function;
  const DType to = type(as_name, "a cast");
  return rules_.cast(syntax.place, to, evaluate(*syntax.args[0]));
}

}  // namespace tunesmith::workload
