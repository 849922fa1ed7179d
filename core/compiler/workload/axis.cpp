#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/printer.h"
#include "workload/names.h"
#include "workload/stage_builder.h"

namespace tunesmith::workload {

namespace {

Extent extent_from_before(const BuildState& state, const TypeRules& rules, const AxisSyntax& syntax) {
  const auto seen = state.extents_seen.find(syntax.name);
  if (seen == state.extents_seen.end()) {
    rules.fail(syntax.place, fmt::format("axis '{}' has no extent", syntax.name),
               fmt::format("write {}<extent", syntax.name));
  }
  if (seen->second.size() > 1) {
    const auto& [first, first_line] = seen->second[0];
    const auto& [second, second_line] = seen->second[1];
    rules.fail(syntax.place,
               fmt::format("axis '{}' has different extents, {} in line {} and {} in line {}", syntax.name,
                           first.text(), first_line, second.text(), second_line),
               fmt::format("write {}<extent", syntax.name));
  }
  return seen->second[0].first;
}

void check_name(const BuildState& state, const TypeRules& rules, const AxisSyntax& syntax) {
  std::string other;
  if (is_reserved(syntax.name)) other = "a keyword";
  if (state.names.contains(syntax.name)) other = "a parameter";
  const auto has = [&](const auto& list, auto member) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& each) { return each.*member == syntax.name; });
  };
  if (has(state.definition.inputs, &InputSyntax::name)) other = "an input";
  if (has(state.definition.statements, &StatementSyntax::target)) other = "a computed buffer";
  if (!other.empty()) {
    rules.fail(syntax.place, fmt::format("'{}' is {}, so no axis can have its name", syntax.name, other),
               "choose another name");
  }
}

void refuse_axes(const BuildState& state, const TypeRules& rules, const Syntax& extent) {
  if (extent.kind == SyntaxKind::Name && !state.names.contains(extent.name) &&
      state.statement_extents.contains(extent.name)) {
    rules.fail(
        extent.place, fmt::format("an extent may not depend on axis '{}'", extent.name),
        fmt::format("reduce over the whole axis and select 0 for the rest: sum(j<n) select(j <= {}, a, 0)",
                    extent.name));
  }
  for (const SyntaxPtr& part : extent.args) refuse_axes(state, rules, *part);
}

}  // namespace

bool Extent::operator==(const Extent& other) const {
  if (most != other.most || !varying != !other.varying) return false;
  return !varying || equal(varying, other.varying);
}

std::string Extent::text() const { return varying ? to_string(varying) : std::to_string(most); }

Extent read_extent(Evaluator& evaluator, const Syntax& syntax, const std::string& what) {
  Extent extent;
  int64_t least = 0;
  const Operand value = evaluator.evaluate(syntax);
  if (value.is_typed() && value.has_index_form()) {
    const Analyzer analyzer;
    extent.varying = analyzer.simplify(value.expr);
    const Interval range = analyzer.bounds(extent.varying);
    least = range.min;
    extent.most = range.max;
  } else {
    least = extent.most = evaluator.integer(syntax, "an extent");
  }
  if (least >= 1 && extent.most <= kMaxElements) return extent;
  const std::string used = evaluator.values_used(syntax);
  const Place place = syntax.kind == SyntaxKind::Binary ? syntax.args[0]->place : syntax.place;
  const std::string reach =
      extent.varying ? fmt::format("may be {} to {}", least, extent.most) : fmt::format("is {}", least);
  evaluator.rules().fail(place,
                         fmt::format("{} {}{}", what, reach, used.empty() ? "" : fmt::format(" ({})", used)),
                         "expected 1 to 2^34");
}

void check_elements(const TypeRules& rules, Place place, const std::string& buffer,
                    std::span<const int64_t> shape) {
  double elements = 1.0;
  for (const int64_t extent : shape) elements *= static_cast<double>(extent);
  if (elements > static_cast<double>(kMaxElements)) {
    rules.fail(
        place,
        fmt::format("'{}' of shape [{}] has {:.3g} elements", buffer, fmt::join(shape, ", "), elements),
        "at most 2^34 are accepted");
  }
}

std::vector<int64_t> strides_of(const BuildState& state, const std::string& buffer,
                                std::span<const int64_t> shape, std::span<const Expr> extents) {
  const auto found = state.definition.strides.find(buffer);
  if (found == state.definition.strides.end()) return {};
  const auto& [place, given] = found->second;
  Evaluator parameters(state.definition.file, state.names);
  if (given.size() != shape.size() || shape.size() < 2) {
    parameters.rules().fail(
        place, fmt::format("'{}' has {} dimensions", buffer, shape.size()),
        shape.size() < 2 ? "an array of one dimension has no strides" : "expected a stride for each");
  }
  std::vector<int64_t> strides(shape.size());
  int64_t dense = 1;
  int64_t span = 1;
  // If an inner extent varies, fixed strides leave gaps: contiguous ones would vary.
  bool has_gaps = !extents.empty() && std::any_of(extents.begin() + 1, extents.end(), [](const Expr& extent) {
    return static_cast<bool>(extent);
  });
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t stride = parameters.integer(*given[d], "a stride");
    if (shape[d] > 1 && stride < span) {
      parameters.rules().fail(given[d]->place,
                              fmt::format("a stride of {} for dimension {} of '{}'", stride, d + 1, buffer),
                              fmt::format("expected at least {}, which the dimensions behind it take", span));
    }
    if (shape[d] > 1 && stride > kMaxElements / shape[d])
      parameters.rules().fail(given[d]->place, fmt::format("'{}' spans too many elements", buffer),
                              "at most 2^34 are accepted");
    // The stride of an axis of extent 1 is irrelevant.
    strides[d] = shape[d] > 1 ? stride : d + 1 < shape.size() ? strides[d + 1] * shape[d + 1] : 1;
    has_gaps |= strides[d] != dense;
    dense *= shape[d];
    span += (shape[d] - 1) * strides[d];
  }
  return has_gaps ? strides : std::vector<int64_t>();
}

Axis resolve_axis(BuildState& state, const AxisSyntax& syntax) {
  Evaluator parameters(state.definition.file, state.names);
  check_name(state, parameters.rules(), syntax);
  Axis axis;
  axis.name = syntax.name;
  axis.var = Var("v" + syntax.name);
  axis.place = syntax.place;
  if (syntax.extent) {
    refuse_axes(state, parameters.rules(), *syntax.extent);
    axis.extent =
        read_extent(parameters, *syntax.extent, fmt::format("the extent of axis '{}'", syntax.name));
  } else {
    axis.extent = extent_from_before(state, parameters.rules(), syntax);
  }
  const auto [entry, fresh] = state.statement_extents.try_emplace(syntax.name, axis.extent);
  if (!fresh && !(entry->second == axis.extent)) {
    parameters.rules().fail(syntax.place,
                            fmt::format("axis '{}' has extent {} here and {} elsewhere in this statement",
                                        syntax.name, axis.extent.text(), entry->second.text()),
                            "choose another name");
  }
  auto& seen = state.extents_seen[syntax.name];
  if (std::none_of(seen.begin(), seen.end(), [&](const auto& each) { return each.first == axis.extent; })) {
    seen.emplace_back(axis.extent, syntax.place.line);
  }
  return axis;
}

}  // namespace tunesmith::workload
