// The operators Reduce...
#include <algorithm>

#include <fmt/format.h>

#include "counted.h"
#include "reduced.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

/// The axes from the attribute or the input; nothing if the operator reduces nothing.
std::optional<std::vector<size_t>> reduced_axes(const NodeReader& node, bool axes_are_input) {
  const size_t rank = node.rank(0);
  std::vector<int64_t> given;
  if (axes_are_input) {
    if (node.has(1)) given = node.integers_of(1, "axes");
    if (given.empty() && node.flag("noop_with_empty_axes", false)) return std::nullopt;
    node.ignore("noop_with_empty_axes");
  } else {
    given = node.integers("axes").value_or(std::vector<int64_t>());
  }
  return given.empty() ? axes_from(0, rank) : node.axes(given, rank);
}

enum class ReducedTypes { Floats, Numbers };

struct Reduction {
  std::string_view name;
  int64_t axes_input_since;
  ReducedTypes types;
  bool may_do_nothing;          ///< without axes the result is the input
  std::string_view kind;        ///< "sum", "prod", "max", "min"
  std::string_view term;        ///< a pattern: {0} is the element
  std::string_view after;       ///< a pattern: {0} is the reduction, {1} its number of elements
  std::string_view of_nothing;  ///< the result without elements, {0} is the type; empty: undefined
};

constexpr Reduction kReductions[] = {
    {"ReduceSum", 13, ReducedTypes::Numbers, true, "sum", "{0}", "{0}", "0"},
    {"ReduceMean", 18, ReducedTypes::Floats, true, "sum", "{0}", "{0} / {1}", ""},
    {"ReduceMax", 18, ReducedTypes::Numbers, true, "max", "{0}", "{0}", "lowest({0})"},
    {"ReduceMin", 18, ReducedTypes::Numbers, true, "min", "{0}", "{0}", "highest({0})"},
    {"ReduceProd", 18, ReducedTypes::Numbers, true, "prod", "{0}", "{0}", "1"},
    {"ReduceL1", 18, ReducedTypes::Numbers, false, "sum", "abs({0})", "{0}", "0"},
    {"ReduceL2", 18, ReducedTypes::Floats, false, "sum", "{0} * {0}", "sqrt({0})", "0"},
    {"ReduceSumSquare", 18, ReducedTypes::Numbers, false, "sum", "{0} * {0}", "{0}", "0"},
    {"ReduceLogSum", 18, ReducedTypes::Floats, false, "sum", "{0}", "log({0})", "(-inf)"},
};

void check_reduced(const NodeReader& node, ReducedTypes types) {
  node.refuse_unless(!node.dtype(0).is_bool(), "expected numbers");
  node.refuse_unless(types == ReducedTypes::Numbers || node.dtype(0).is_float(), "expected floating values");
}

Computation unchanged(const NodeReader& node, bool may) {
  node.refuse_unless(may, "attribute 'noop_with_empty_axes' without axes is not taken");
  node.ignore("keepdims");
  const Shape& shape = node.shape(0);
  return copied(node, shape, here(in(0), shape));
}

/// The result for no elements.
Computation of_nothing(const NodeReader& node, const Shape& shape, std::string_view value) {
  return computed(node.dtype(0), shape, statement(out(0), shape, typed(node.dtype(0), std::string(value))));
}

/// The element, or `neutral` where it is not among those that exist: then the third input is their number.
std::string existing(const NodeReader& node, const Reduced& reduced, const std::string& neutral) {
  const std::string x = element(in(0), reduced.read);
  if (!node.has(2)) return x;
  const auto axis = static_cast<size_t>(node.integer(kCountedAxis, 0));
  return fmt::format("select({} < in2[0], {}, {})", reduced.read[axis], x, neutral);
}

std::string neutral_of(std::string_view kind, DType dtype) {
  if (kind == "sum") return "0";
  if (kind == "prod") return "1";
  return fmt::format("{}({})", kind == "max" ? "lowest" : "highest", dtype.str());
}

/// The number of reduced elements that exist, as a text.
std::string number_of_existing(const NodeReader& node, const Reduced& reduced, DType type) {
  if (!node.has(2)) return fmt::format("{}", reduced.count());
  const int64_t bound = node.shape(0)[static_cast<size_t>(node.integer(kCountedAxis, 0))];
  return fmt::format("{}(in2[0] * {})", type.str(), reduced.count() / bound);
}

/// Reduces bools as u8: their maximum is true if one of them is.
Computation of_bools(const Reduced& reduced, std::string_view kind) {
  const std::string x = fmt::format("select({}, u8(1), 0)", element(in(0), reduced.read));
  Script script;
  const std::string number = script.here(reduced.output, reduced.reduction(kind, x));
  return computed(kBool, reduced.output,
                  script.text + statement(out(0), reduced.output, fmt::format("{} != 0", number)));
}

Computation define_reduction(const NodeReader& node, const Reduction& row) {
  const bool is_order = row.kind == "max" || row.kind == "min";
  const bool is_of_bools = node.dtype(0).is_bool() && is_order && node.version() >= 20;
  if (!is_of_bools) check_reduced(node, row.types);
  const auto axes = reduced_axes(node, node.version() >= row.axes_input_since);
  if (!axes) return unchanged(node, row.may_do_nothing);
  const DType dtype = node.dtype(0);
  const Reduced reduced = reduce(node.shape(0), *axes, node.flag("keepdims", true));
  if (reduced.count() == 0 && element_count(reduced.output) > 0) {
    node.refuse_unless(!row.of_nothing.empty(), "of no elements it is not defined");
    if (is_of_bools)
      return computed(kBool, reduced.output,
                      statement(out(0), reduced.output, row.kind == "max" ? "false" : "true"));
    return of_nothing(node, reduced.output, fmt::format(fmt::runtime(row.of_nothing), node.dtype(0).str()));
  }
  if (is_of_bools) return of_bools(reduced, row.kind);
  const DType type = row.kind == "sum" || row.kind == "prod" ? wide(dtype) : dtype;
  const std::string x = convert(dtype, type, existing(node, reduced, neutral_of(row.kind, dtype)));
  const std::string value = reduced.reduction(row.kind, fmt::format(fmt::runtime(row.term), x));
  if (row.after == "{0}" && type == dtype) return copied(node, reduced.output, value);
  const std::string sum = here(temporary(0), reduced.output);
  const std::string after =
      fmt::format(fmt::runtime(row.after), sum, number_of_existing(node, reduced, type));
  return computed(dtype, reduced.output,
                  statement(temporary(0), reduced.output, value) +
                      statement(out(0), reduced.output, convert(type, dtype, after)));
}

/// Subtracts the maximum before the exponentials, so that they do not overflow.
Computation log_sum_exp(const NodeReader& node) {
  check_reduced(node, ReducedTypes::Floats);
  const auto axes = reduced_axes(node, node.version() >= 18);
  if (!axes) return unchanged(node, false);
  const DType dtype = node.dtype(0);

  const Reduced reduced = reduce(node.shape(0), *axes, node.flag("keepdims", true));
  if (reduced.count() == 0 && element_count(reduced.output) > 0)
    return of_nothing(node, reduced.output, "(-inf)");
  const std::string x = to_wide(dtype, existing(node, reduced, "-inf"));
  const auto of = [&](size_t number) { return here(temporary(number), reduced.output); };
  std::string text = statement(temporary(0), reduced.output, reduced.reduction("max", x));
  text += statement(temporary(1), reduced.output, fmt::format("select(abs({0}) == inf, 0, {0})", of(0)));
  text += statement(temporary(2), reduced.output,
                    reduced.reduction("sum", fmt::format("exp({} - {})", x, of(1))));
  text += statement(out(0), reduced.output, from_wide(dtype, fmt::format("log({}) + {}", of(2), of(1))));
  return computed(dtype, reduced.output, text);
}

/// Reduces what exists of an axis whose extent is data.
Expand of_counted(int64_t axes_input_since) {
  return [axes_input_since](const NodeReader& node, network::Expansion& to) {
    const auto count = node.count(0);
    if (!count || node.has(2)) return false;
    const auto axes = reduced_axes(node, node.version() >= axes_input_since);
    if (!axes || std::ranges::find(*axes, count->axis) == axes->end()) return false;
    node.refuse_unless(!node.dtype(0).is_bool(), "bools along an axis whose extent is data are not taken");
    const std::vector<TensorIndex>& inputs = node.node().inputs;
    Graph::Attributes attributes = node.node().attributes;
    attributes[kCountedAxis] = static_cast<int64_t>(count->axis);
    for (const auto& [name, value] : attributes) node.ignore(name);
    to.give(0,
            Graph(to).add_all(node.op(), {to.whole(inputs[0]), node.has(1) ? inputs[1] : kAbsent, count->by},
                              attributes, 1, node.version())[0]);
    return true;
  };
}

}  // namespace

std::vector<Row> reduction_operators() {
  std::vector<Row> rows{{"ReduceLogSumExp", 1, log_sum_exp, true, false, of_counted(18)}};
  for (const Reduction& row : kReductions)
    rows.push_back({row.name, 1, [&row](const NodeReader& node) { return define_reduction(node, row); }, true,
                    false, of_counted(row.axes_input_since)});
  return rows;
}

}  // namespace tunesmith::operators_onnx
