#include "workload/program_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "workload/stage_builder.h"

namespace tunesmith::workload {

namespace {

constexpr size_t kMaxRank = 8;
constexpr size_t kMaxStatements = 256;

bool constant_flag(Evaluator& parameters, const InputSyntax& input) {
  if (!input.constant) return false;
  const Operand value = parameters.evaluate(*input.constant);
  if (value.kind == Operand::Kind::Boolean || value.kind == Operand::Kind::Integer) return value.integer != 0;
  parameters.rules().fail(input.constant->place, fmt::format("'constant' is {}", value.describe()),
                          "expected true, false, or an integer where 0 means false");
}

void add_inputs(BuildState& state) {
  Evaluator parameters(state.definition.file, state.names);
  for (const InputSyntax& input : state.definition.inputs) {
    if (input.shape.empty() || input.shape.size() > kMaxRank) {
      parameters.rules().fail(input.shape_place,
                              fmt::format("'{}' has {} dimensions", input.name, input.shape.size()),
                              fmt::format("expected 1 to {}", kMaxRank));
    }
    std::vector<int64_t> shape;
    std::vector<Expr> extents;
    bool vary = false;
    for (const SyntaxPtr& syntax : input.shape) {
      const Extent extent =
          read_extent(parameters, *syntax,
                      fmt::format("the extent of dimension {} of '{}'", shape.size() + 1, input.name));
      shape.push_back(extent.most);
      extents.push_back(extent.varying);
      vary = vary || extent.varying;
    }
    if (!vary) extents.clear();
    check_elements(parameters.rules(), input.place, input.name, shape);
    const DType dtype = parameters.type(*input.dtype, "a 'dtype'");
    const bool constant = constant_flag(parameters, input);
    if (constant && vary)
      parameters.rules().fail(input.place,
                              fmt::format("'{}' is constant, but an extent of it varies", input.name));
    std::vector<int64_t> strides = strides_of(state, input.name, shape, extents);
    const Buffer buffer =
        with_extents(make_buffer(input.name, dtype, shape, kScopeGlobal, constant, std::move(strides)),
                     std::move(extents));
    state.buffers[input.name] = {buffer, input.place, false};
    state.program.inputs.push_back(buffer);
  }
}

void add_statement(BuildState& state, const StatementSyntax& statement) {
  const TypeRules rules(state.definition.file);
  if (statement.axes.size() > kMaxRank)
    rules.fail(statement.axes[kMaxRank].place,
               fmt::format("'{}' has more than {} dimensions", statement.target, kMaxRank));
  state.statement_extents.clear();
  std::vector<Axis> axes;
  for (const AxisSyntax& syntax : statement.axes) {
    const bool twice =
        std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == syntax.name; });
    axes.push_back(resolve_axis(state, syntax));
    if (twice) {
      rules.fail(syntax.place, fmt::format("axis '{}' is repeated", syntax.name), "choose another name");
    }
  }
  StageBuilder(state, statement.target, statement.place, std::move(axes)).build(*statement.value);
}

void sort_buffers(BuildState& state) {
  const TypeRules rules(state.definition.file);
  for (const OutputSyntax& output : state.definition.outputs) {
    BuildState::Known& known = state.buffers.at(output.name);
    known.read = true;
    state.program.outputs.push_back(known.buffer);
  }
  for (const std::string& name : state.computed) {
    const BuildState::Known& known = state.buffers.at(name);
    if (!known.read) {
      rules.fail(known.place, fmt::format("'{}' is computed, but nothing reads it", name),
                 "list it in 'outputs' or remove it");
    }
    const auto& outputs = state.program.outputs;
    if (std::find(outputs.begin(), outputs.end(), known.buffer) == outputs.end()) {
      state.program.intermediates.push_back(known.buffer);
    }
  }
  for (const InputSyntax& input : state.definition.inputs) {
    if (!state.buffers.at(input.name).read)
      rules.fail(input.place, fmt::format("input '{}' is never read", input.name), "remove it");
  }
}

}  // namespace

Program build_program(const Definition& definition, const Environment& names,
                      std::vector<ExtentParameter> parameters) {
  const std::vector<StatementSyntax>& statements = definition.statements;
  if (statements.size() > kMaxStatements)
    TypeRules(definition.file)
        .fail(statements[kMaxStatements].place, fmt::format("more than {} statements", kMaxStatements));
  BuildState state{definition, names, {}, {}, {}, {}, {}};
  state.program.name = definition.name;
  state.program.parameters = std::move(parameters);
  add_inputs(state);
  for (const StatementSyntax& statement : statements) add_statement(state, statement);
  sort_buffers(state);
  return std::move(state.program);
}

}  // namespace tunesmith::workload
