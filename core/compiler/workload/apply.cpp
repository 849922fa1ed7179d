#include "tunesmith/workload/apply.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/definition.h"
#include "workload/leaves.h"
#include "workload/parameters.h"
#include "workload/print_syntax.h"
#include "workload/program_builder.h"

namespace tunesmith::workload {
namespace {

using Leaves = std::map<std::string, SyntaxPtr>;

SyntaxPtr copy(const Syntax& syntax) {
  SyntaxPtr made = leaf(syntax.kind, syntax.name);
  made->place = syntax.place;
  made->integer = syntax.integer;
  made->real = syntax.real;
  made->depth = syntax.depth;
  for (const SyntaxPtr& arg : syntax.args) made->args.push_back(copy(*arg));
  return made;
}

/// Replaces names by values.
void substitute(SyntaxPtr& syntax, const Leaves& values) {
  const auto value = values.find(syntax->name);
  if (value != values.end() && syntax->kind == SyntaxKind::Name) {
    const Place place = syntax->place;
    syntax = copy(*value->second);
    syntax->place = place;
    return;
  }
  // A type is a conversion: dtype(x).
  if (value != values.end() && syntax->kind == SyntaxKind::Call) syntax->name = value->second->name;
  for (SyntaxPtr& arg : syntax->args) substitute(arg, values);
  for (AxisSyntax& axis : syntax->axes)
    if (axis.extent) substitute(axis.extent, values);
}

void substitute(StatementSyntax& statement, const Leaves& values) {
  for (AxisSyntax& axis : statement.axes)
    if (axis.extent) substitute(axis.extent, values);
  substitute(statement.value, values);
}

/// Renames arrays, and gives each axis the extent of the last axis of its name.
class Completion {
 public:
  explicit Completion(std::map<std::string, std::string> arrays) : arrays_(std::move(arrays)) {}

  void complete(StatementSyntax& statement) {
    statement.target = arrays_.at(statement.target);
    complete(statement.axes);
    complete(*statement.value);
  }

 private:
  void complete(std::vector<AxisSyntax>& axes) {
    for (AxisSyntax& axis : axes) {
      if (axis.extent)
        extents_[axis.name] = copy(*axis.extent);
      else
        axis.extent = copy(*extents_.at(axis.name));
    }
  }
  void complete(Syntax& syntax) {
    if (syntax.kind == SyntaxKind::Access) syntax.name = arrays_.at(syntax.name);
    complete(syntax.axes);
    for (const SyntaxPtr& arg : syntax.args) complete(*arg);
  }

  std::map<std::string, std::string> arrays_;
  std::map<std::string, SyntaxPtr> extents_;
};

std::string text_of(const ArrayType& type) {
  return fmt::format("{}[{}]", type.dtype.str(), fmt::join(type.shape, ", "));
}

bool is_real(const Syntax& value) {
  return value.kind == SyntaxKind::Real || (value.kind == SyntaxKind::Negate && is_real(*value.args[0]));
}

/// Gives values to a definition's parameters.
class Application {
 public:
  Application(const WorkloadDefinition& definition, const std::vector<ArrayType>& inputs)
      : made_(read_definition(parse_yaml(definition.text(), definition.file()))), inputs_(inputs) {
    made_.text = definition.text();
    if (inputs.size() != made_.inputs.size())
      throw UserError(fmt::format("it takes {} inputs, found {}", made_.inputs.size(), inputs.size()));
  }

  void bind(const std::map<std::string, AttributeValue>& attributes) {
    for (size_t i = 0; i < inputs_.size(); ++i) bind_input(i);
    std::vector<std::string> open;  // names that attributes may define
    for (const NamedValue& param : made_.params)
      if (!bound_.contains(param.name)) open.push_back(param.name);
    for (const auto& [name, value] : attributes) {
      if (std::ranges::find(open, name) == open.end())
        throw UserError(fmt::format("attribute '{}' is not a parameter of {}", name, made_.name),
                        suggest(name, open));
      const auto* real = std::get_if<double>(&value);
      const double number = real != nullptr ? *real : static_cast<double>(std::get<int64_t>(value));
      if (!std::isfinite(number) || (real == nullptr && std::abs(number) >= kMaxMagnitude))
        throw UserError(
            fmt::format("attribute '{}' is {}, which the workload language cannot express", name, number));
      bound_[name] = real != nullptr ? real_leaf(*real) : integer_leaf(std::get<int64_t>(value));
    }
    Leaves reals;
    for (NamedValue& param : made_.params) {
      if (const auto bound = bound_.find(param.name); bound != bound_.end())
        param.value = copy(*bound->second);
      if (is_real(*param.value)) reals[param.name] = copy(*param.value);
    }
    std::erase_if(made_.params, [&](const NamedValue& param) { return reals.contains(param.name); });
    for (StatementSyntax& statement : made_.statements) substitute(statement, reals);
  }

  AppliedDefinition apply(size_t outputs) {
    if (outputs > made_.outputs.size())
      throw UserError(fmt::format("it has {} outputs, expected {}", made_.outputs.size(), outputs));
    const Workload workload = instantiate(made_, {});
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Buffer& expected = workload.program.inputs[i];
      const ArrayType takes{expected->dtype, expected->shape};
      if (takes.dtype != inputs_[i].dtype || takes.shape != inputs_[i].shape)
        throw UserError(fmt::format("input {} ('{}') is {}, where {} is expected", i + 1,
                                    made_.inputs[i].name, text_of(inputs_[i]), text_of(takes)));
    }
    AppliedDefinition applied;
    for (size_t i = 0; i < outputs; ++i) {
      const Buffer& output = workload.program.outputs[i];
      applied.outputs.push_back({output->dtype, output->shape});
    }
    Leaves names;
    for (const auto& [name, value] : resolve_parameters(made_, {}).names)
      names[name] = value.kind == Operand::Kind::Type ? type_leaf(value.type) : integer_leaf(value.integer);
    Completion completion(array_names(outputs));
    for (StatementSyntax& statement : made_.statements) {
      substitute(statement, names);
      completion.complete(statement);
      applied.statements += to_text(statement) + "\n";
    }
    return applied;
  }

 private:
  NamedValue* find(const Syntax& name) {
    const auto found = std::ranges::find(made_.params, name.name, &NamedValue::name);
    return name.kind == SyntaxKind::Name && found != made_.params.end() ? &*found : nullptr;
  }

  /// Two inputs may determine different values: then the second does not fit.
  void bind_input(size_t i) {
    const InputSyntax& input = made_.inputs[i];
    if (input.shape.size() != inputs_[i].shape.size())
      throw UserError(fmt::format("input {} ('{}') has {} dimensions, not {}", i + 1, input.name,
                                  input.shape.size(), inputs_[i].shape.size()));
    for (size_t d = 0; d < input.shape.size(); ++d)
      if (const NamedValue* param = find(*input.shape[d]))
        bound_.try_emplace(param->name, integer_leaf(inputs_[i].shape[d]));
    if (const NamedValue* param = find(*input.dtype))
      bound_.try_emplace(param->name, type_leaf(inputs_[i].dtype));
  }

  std::map<std::string, std::string> array_names(size_t outputs) const {
    std::map<std::string, std::string> names;
    for (size_t i = 0; i < made_.inputs.size(); ++i) names[made_.inputs[i].name] = fmt::format("in{}", i);
    for (size_t i = 0; i < outputs; ++i) names[made_.outputs[i].name] = fmt::format("out{}", i);
    size_t temporaries = 0;
    for (const StatementSyntax& statement : made_.statements)
      if (!names.contains(statement.target)) names[statement.target] = fmt::format("t{}", temporaries++);
    return names;
  }

  Definition made_;
  const std::vector<ArrayType>& inputs_;
  Leaves bound_;
};

}  // namespace

AppliedDefinition apply(const WorkloadDefinition& definition, const std::vector<ArrayType>& inputs,
                        const std::map<std::string, AttributeValue>& attributes, size_t outputs) {
  Application application(definition, inputs);
  application.bind(attributes);
  return application.apply(outputs);
}

}  // namespace tunesmith::workload
