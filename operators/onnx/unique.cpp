// Unique: all elements are compared with each other.
#include <algorithm>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

constexpr int64_t kMaxUniqueComparisons = int64_t{1} << 24;
constexpr int64_t kVersionOfUnique = 11;

/// What is compared: `count` rows of `width` elements.
struct Rows {
  Shape shape;
  std::optional<size_t> axis;  ///< without it, the rows are the elements
  int64_t count = 0, width = 1;
  bool has_nan = false;

  /// The element at a place of a row, which may be data.
  std::string at(const std::string& row, const std::string& place, bool is_data = false) const {
    if (!axis) return element(in(0), unravel(row, shape));
    Shape others = shape;
    others.erase(others.begin() + static_cast<int64_t>(*axis));
    Indices all = unravel(place, others);
    for (std::string& index : all)
      if (is_data && index != "0") index = fmt::format("at({})", index);
    all.insert(all.begin() + static_cast<int64_t>(*axis), row);
    return element(in(0), all);
  }
  /// NaNs equal each other, and are larger than all numbers.
  std::string equal(const std::string& a, const std::string& b) const {
    return has_nan ? fmt::format("({0} == {1} or {0} != {0} and {1} != {1})", a, b)
                   : fmt::format("{} == {}", a, b);
  }
  std::string less(const std::string& a, const std::string& b) const {
    return has_nan ? fmt::format("({0} < {1} or {0} == {0} and {1} != {1})", a, b)
                   : fmt::format("{} < {}", a, b);
  }
};

Rows read_rows(const NodeReader& node) {
  Rows rows{node.shape(0), std::nullopt, element_count(node.shape(0)), 1, node.dtype(0).is_float()};
  node.refuse_unless(rows.count > 0 && !node.dtype(0).is_bool(), "expected numbers");
  if (node.has_attribute("axis") && rows.shape.size() > 1) {
    rows.axis = node.axis(node.integer("axis", 0), rows.shape.size());
    rows.count = rows.shape[*rows.axis];
    rows.width = element_count(rows.shape) / rows.count;
  }
  node.ignore("axis");
  if (rows.count > kMaxUniqueComparisons / rows.count / rows.width)
    node.refuse(fmt::format(
        "{} rows of {} elements are compared with each other, where at most {} comparisons are taken",
        rows.count, rows.width, kMaxUniqueComparisons));
  return rows;
}

/// The outputs of ONNX, and the number of different rows.
Computation unique_rows(const NodeReader& node) {
  const Rows rows = read_rows(node);
  const int64_t n = rows.count, bound = std::max<int64_t>(n, 2);
  const bool sorted = node.flag("sorted", true);
  Script script;
  std::string same = rows.equal(rows.at("i0", "0"), rows.at("r0", "0"));
  std::string less = rows.less(rows.at("r0", "0"), rows.at("i0", "0"));
  if (rows.width > 1) {
    // The first place where rows i0 and i1 differ.
    const std::string differs =
        script.make({n, n}, fmt::format("min(r0<{0}) i64(select({1}, {0}, r0))", rows.width,
                                        rows.equal(rows.at("i0", "r0"), rows.at("i1", "r0"))));
    const std::string place = fmt::format("{}[i0, r0]", differs), here = differs + "[i0, i1]";
    const std::string lesser =
        script.make({n, n}, rows.less(rows.at("i1", here, true), rows.at("i0", here, true)));
    same = fmt::format("{} == {}", place, rows.width);
    less = fmt::format("{}[i0, r0]", lesser);
  }
  const std::string first = script.make({n}, fmt::format("min(r0<{0}) i64(select({1}, r0, {0}))", n, same));
  const std::string before = sorted ? less : fmt::format("r0 < {}[i0]", first);
  const std::string rank =
      script.make({n}, fmt::format("sum(r0<{}) select({}[r0] == r0 and {}, i64(1), 0)", n, first, before));
  const std::string place =
      script.make({bound}, fmt::format("min(r0<{}) i64(select({}[r0] == i0, r0, {}))", n, rank, n - 1));
  Shape shape{bound};
  Indices at = unravel(fmt::format("{}[i0]", place), rows.shape);
  if (rows.axis) {
    shape = rows.shape;
    shape[*rows.axis] = bound;
    at = axis_names(shape.size());
    at[*rows.axis] = fmt::format("{}[i{}]", place, *rows.axis);
    at[*rows.axis] = fmt::format("at({})", at[*rows.axis]);
  } else {
    for (std::string& index : at) index = index == "0" ? index : fmt::format("at({})", index);
  }
  script.text += statement(out(0), shape, element(in(0), at));
  script.text += statement(out(1), {bound}, fmt::format("{}[i0]", place));
  script.text += statement(out(2), {n}, fmt::format("{}[i0]", rank));
  script.text +=
      statement(out(3), {bound}, fmt::format("sum(r0<{}) select({}[r0] == i0, i64(1), 0)", n, rank));
  script.text += statement(out(4), {}, fmt::format("sum(r0<{}) select({}[r0] == r0, i64(1), 0)", n, first));
  return {
      {{node.dtype(0), shape}, {kI64, {bound}}, {kI64, {n}}, {kI64, {bound}}, {kI64, {}}}, {}, script.text};
}

bool count_unique(const NodeReader& node, network::Expansion& to) {
  constexpr size_t kOutputs = 4;
  if (node.output_count() > kOutputs) return false;
  const Rows rows = read_rows(node);
  Graph graph(to);
  const auto made =
      graph.add_all("Unique", {node.input(0)}, node.node().attributes, kOutputs + 1, kVersionOfUnique);
  for (const auto& [name, value] : node.node().attributes) node.ignore(name);
  for (size_t i = 0; i < kOutputs; ++i) {
    const bool is_whole = i == 2;
    if (node.wants(i))
      to.give(i,
              is_whole ? made[i] : to.counted(made[i], i == 0 ? rows.axis.value_or(0) : 0, made[kOutputs]));
  }
  return true;
}

}  // namespace

std::vector<Row> unique_operators() {
  return {{"Unique", kVersionOfUnique, unique_rows, true, false, count_unique}};
}

}  // namespace tunesmith::operators_onnx
