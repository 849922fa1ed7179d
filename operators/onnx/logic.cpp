// Comparisons and logic.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

struct Logic {
  std::string_view name;
  int64_t since;
  std::string_view numbers;  ///< a pattern for the operands {0} and {1}; empty: numbers are refused
  std::string_view conditions;
};

constexpr std::string_view kSame = "({0} and {1}) or (not {0} and not {1})";
constexpr std::string_view kDifferent = "({0} and not {1}) or (not {0} and {1})";

constexpr Logic kLogic[] = {
    {"Equal", 7, "{0} == {1}", kSame},
    {"Less", 7, "{0} < {1}", ""},
    {"LessOrEqual", 12, "{0} <= {1}", ""},
    {"Greater", 7, "{0} > {1}", ""},
    {"GreaterOrEqual", 12, "{0} >= {1}", ""},
    {"And", 7, "", "{0} and {1}"},
    {"Or", 7, "", "{0} or {1}"},
    {"Xor", 7, "", kDifferent},
};

Computation define_logic(const NodeReader& node, const Logic& row) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1), "its inputs are of different types");
  const std::string_view value = dtype.is_bool() ? row.conditions : row.numbers;
  node.refuse_unless(!value.empty(), fmt::format("inputs of type {} are not taken", dtype.str()));
  const Shape shape = broadcast_shape(node, node.shape(0), node.shape(1));
  const std::string a = broadcast(in(0), node.shape(0), shape);
  const std::string b = broadcast(in(1), node.shape(1), shape);
  return computed(kBool, shape, statement(out(0), shape, fmt::format(fmt::runtime(value), a, b)));
}

Computation define_not(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_bool(), "expected conditions");
  const Shape& shape = node.shape(0);
  return copied(node, shape, "not " + here(in(0), shape));
}

}  // namespace

std::vector<Row> logic_operators() {
  std::vector<Row> rows{{"Not", 1, define_not}};
  for (const Logic& row : kLogic)
    rows.push_back({row.name, row.since, [&row](const NodeReader& node) { return define_logic(node, row); }});
  return rows;
}

}  // namespace tunesmith::operators_onnx
