// Scatters elements, written as reads: each element of the result finds its update.
#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The maximum for all elements together, where the indices are unknown or irregular.
constexpr int64_t kMaxComparisons = int64_t{1} << 24;

void check_scattered(const NodeReader& node) {
  node.refuse_unless(node.dtype(1) == kI64 || node.dtype(1) == kI32, "the indices are not i64 or i32");
  node.refuse_unless(node.dtype(2) == node.dtype(0), "the updates are of another type than the data");
}

void check_comparisons(const NodeReader& node, int64_t elements, int64_t updates) {
  if (elements <= kMaxComparisons / std::max<int64_t>(updates, 1)) return;
  node.refuse(
      fmt::format("{} updates of {} places are compared with each other, where at most {} comparisons "
                  "are taken",
                  updates, elements, kMaxComparisons),
      "indices that are known, and a range along each axis, need none");
}

/// How an update is combined with the old element.
struct Reducing {
  std::string kind;     ///< a reduction of the workload language; "": the last update replaces the element
  std::string neutral;  ///< the neutral element, in `type`
  DType type;

  std::string joined(const std::string& old, const std::string& update) const {
    if (kind.empty()) return update;
    if (kind == "sum") return old + " + " + update;
    if (kind == "prod") return old + " * (" + update + ")";
    return fmt::format("{}({}, {})", kind, old, update);
  }
};

Reducing read_reducing(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  const std::string name = node.version() >= 16 ? node.text("reduction", "none") : "none";
  if (name == "none") return {"", "", dtype};
  node.refuse_unless(!dtype.is_bool(), fmt::format("bool is not taken with the reduction '{}'", name));
  const DType type = wide(dtype);
  if (name == "add") return {"sum", typed(type, "0"), type};
  if (name == "mul") return {"prod", typed(type, "1"), type};
  node.refuse_unless(node.version() >= 18 && (name == "max" || name == "min"),
                     fmt::format("attribute 'reduction' is '{}'", name));
  return {name, fmt::format("{}({})", name == "max" ? "lowest" : "highest", type.str()), type};
}

/// An index as i64, counted from the end if it is negative.
std::string from_front(const std::string& index, int64_t extent) {
  return fmt::format("select({0} < 0, i64({0}) + {1}, i64({0}))", index, extent);
}

/// Known indices into the first `count` axes of the data, by the position in the updates.
class KnownTuples {
 public:
  KnownTuples(const NodeReader& node, std::vector<int64_t> values, const Shape& grid, int64_t count)
      : values_(std::move(values)), grid_(grid), count_(static_cast<size_t>(count)) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const int64_t extent = node.shape(0)[i % count_];
      node.refuse_unless(values_[i] >= -extent && values_[i] < extent,
                         fmt::format("the index {} is out of range", values_[i]));
      if (values_[i] < 0) values_[i] += extent;
    }
  }

  int64_t at(int64_t tuple, size_t axis) const { return values_[static_cast<size_t>(tuple) * count_ + axis]; }

  /// How far an axis's index moves along each axis of the updates; nothing if the indices form no such grid.
  std::optional<std::vector<Shape>> steps() const {
    std::vector<Shape> steps(count_, Shape(grid_.size(), 0));
    for (size_t axis = 0; axis < count_; ++axis) {
      int64_t stride = element_count(grid_);
      for (size_t g = 0; g < grid_.size(); ++g) {
        stride /= grid_[g];
        if (grid_[g] > 1) steps[axis][g] = at(stride, axis) - at(0, axis);
      }
    }
    for (int64_t tuple = 0; tuple < element_count(grid_); ++tuple) {
      for (size_t axis = 0; axis < count_; ++axis)
        if (at(tuple, axis) != expected(tuple, axis, steps[axis])) return std::nullopt;
    }
    return steps;
  }

 private:
  int64_t expected(int64_t tuple, size_t axis, const Shape& steps) const {
    int64_t index = at(0, axis), stride = element_count(grid_);
    for (size_t g = 0; g < grid_.size(); ++g) {
      stride /= grid_[g];
      index += tuple / stride % grid_[g] * steps[g];
    }
    return index;
  }

  std::vector<int64_t> values_;
  Shape grid_;
  size_t count_;
};

/// Which elements of the data are written, and by which update.
struct Written {
  std::vector<std::string> conditions;
  Indices update;
};

/// Each axis of the data must move with at most one axis of the updates, and each of these with exactly one.
std::optional<Written> written_grid(const KnownTuples& tuples, const Shape& grid, const Shape& data,
                                    int64_t count) {
  const auto steps = tuples.steps();
  if (!steps) return std::nullopt;
  Written made{{}, Indices(grid.size(), "0")};
  std::vector<bool> moved(grid.size(), false);
  for (size_t axis = 0; axis < static_cast<size_t>(count); ++axis) {
    const std::string here = fmt::format("i{}", axis);
    const int64_t first = tuples.at(0, axis);
    const auto moving = std::ranges::count_if((*steps)[axis], [](int64_t step) { return step != 0; });
    if (moving > 1) return std::nullopt;
    if (moving == 0) {
      if (data[axis] != 1) made.conditions.push_back(fmt::format("{} == {}", here, first));
      continue;
    }
    const auto found = std::ranges::find_if((*steps)[axis], [](int64_t step) { return step != 0; });
    const auto g = static_cast<size_t>(found - (*steps)[axis].begin());
    if (moved[g] || *found < 0) return std::nullopt;
    moved[g] = true;
    const int64_t last = first + (grid[g] - 1) * *found;
    if (first > 0) made.conditions.push_back(fmt::format("{} >= {}", here, first));
    if (last + 1 < data[axis]) made.conditions.push_back(fmt::format("{} <= {}", here, last));
    if (*found > 1) made.conditions.push_back(fmt::format("({} - {}) % {} == 0", here, first, *found));
    made.update[g] = fmt::format("max(0, min({}, ({} - {}) // {}))", grid[g] - 1, here, first, *found);
  }
  for (size_t g = 0; g < grid.size(); ++g)
    if (grid[g] > 1 && !moved[g]) return std::nullopt;  // several updates write one place
  return made;
}

/// The shapes of ScatterND's statements.
struct Tuples {
  Shape grid;     ///< the updates' leading axes: one point for each index tuple
  Shape indexed;  ///< the data's axes that an index tuple addresses
};

Tuples read_tuples(const NodeReader& node) {
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  node.refuse_unless(
      !indices.empty() && indices.back() >= 1 && indices.back() <= static_cast<int64_t>(data.size()),
      "the last extent of 'indices' is not a number of axes that the data have");
  Tuples made{Shape(indices.begin(), indices.end() - 1), Shape(data.begin(), data.begin() + indices.back())};
  Shape expected = made.grid;
  expected.insert(expected.end(), data.begin() + indices.back(), data.end());
  if (node.shape(2) != expected)
    node.refuse(fmt::format("the updates have the shape [{}], expected [{}]", fmt::join(node.shape(2), ", "),
                            fmt::join(expected, ", ")));
  return made;
}

/// The update for the tuple at these indices.
std::string update_at(const Tuples& tuples, size_t rank, Indices at) {
  for (size_t i = tuples.indexed.size(); i < rank; ++i) at.push_back(fmt::format("i{}", i));
  return element(in(2), at);
}

Computation scatter_known(const NodeReader& node, const Tuples& tuples, const Reducing& reducing,
                          const Written& written) {
  const Shape& shape = node.shape(0);
  const DType dtype = node.dtype(0);
  const std::string old = here(in(0), shape);
  const std::string update = update_at(tuples, shape.size(), written.update);
  std::string value = reducing.kind.empty() ? update
                                            : convert(reducing.type, dtype,
                                                      reducing.joined(convert(dtype, reducing.type, old),
                                                                      convert(dtype, reducing.type, update)));
  if (!written.conditions.empty())
    value = fmt::format("select({}, {}, {})", fmt::join(written.conditions, " and "), value, old);
  return copied(node, shape, value);
}

/// Reduces the updates that `match` a place, and joins them with its old element.
Computation scatter_reduced(const NodeReader& node, const Reducing& reducing, const Indices& axes,
                            const Shape& extents, const std::string& match, const std::string& update) {
  const Shape& shape = node.shape(0);
  const DType dtype = node.dtype(0);
  const std::string term =
      fmt::format("select({}, {}, {})", match, convert(dtype, reducing.type, update), reducing.neutral);
  const std::string value =
      reducing.joined(convert(dtype, reducing.type, here(in(0), shape)), here(temporary(0), shape));
  return computed(dtype, shape,
                  statement(temporary(0), shape, reduction(reducing.kind, axes, extents, term)) +
                      statement(out(0), shape, convert(reducing.type, dtype, value)));
}

Computation scatter_nd(const NodeReader& node) {
  check_scattered(node);
  const Tuples tuples = read_tuples(node);
  const Reducing reducing = read_reducing(node);
  const Shape& shape = node.shape(0);
  const int64_t count = element_count(tuples.grid);
  if (count == 0) return copied(node, shape, here(in(0), shape));
  if (const Constant* known = node.constant(1)) {
    const auto depth = static_cast<int64_t>(tuples.indexed.size());
    const KnownTuples values(node, integer_elements(*known), tuples.grid, depth);
    if (const auto written = written_grid(values, tuples.grid, shape, depth))
      return scatter_known(node, tuples, reducing, *written);
  }
  const Indices of_tuple = axis_names(tuples.grid.size(), 'r');
  std::vector<std::string> matches;
  for (size_t axis = 0; axis < tuples.indexed.size(); ++axis) {
    Indices at = of_tuple;
    at.push_back(fmt::format("{}", axis));
    matches.push_back(fmt::format("{} == i{}", from_front(element(in(1), at), shape[axis]), axis));
  }
  const std::string match = fmt::format("{}", fmt::join(matches, " and "));
  const std::string old = here(in(0), shape);
  const DType dtype = node.dtype(0);
  if (!reducing.kind.empty()) {
    check_comparisons(node, element_count(shape), count);
    return scatter_reduced(node, reducing, of_tuple, tuples.grid, match,
                           update_at(tuples, shape.size(), of_tuple));
  }
  // t0: the last tuple that writes this place, or -1.
  check_comparisons(node, element_count(tuples.indexed), count);
  const std::string position = linear(of_tuple, tuples.grid);
  std::string text = statement(
      temporary(0), tuples.indexed,
      reduction("max", of_tuple, tuples.grid,
                fmt::format("i64(select({}, {}, -1))", match, position == "0" ? "i64(0)" : position)));
  const std::string last = element(temporary(0), axis_names(tuples.indexed.size()));
  Indices at;
  for (const std::string& index : unravel(last, tuples.grid)) at.push_back(fmt::format("at({})", index));
  return computed(dtype, shape,
                  text + statement(out(0), shape,
                                   fmt::format("select({} < 0, {}, {})", last, old,
                                               update_at(tuples, shape.size(), at))));
}

Computation scatter_elements(const NodeReader& node) {
  check_scattered(node);
  const Reducing reducing = node.op() == "Scatter" ? Reducing{"", "", node.dtype(0)} : read_reducing(node);
  const Shape& shape = node.shape(0);
  const Shape& updates = node.shape(2);
  node.refuse_unless(updates == node.shape(1) && updates.size() == shape.size() && !shape.empty(),
                     "data, 'indices' and 'updates' do not have as many axes, or these two differ");
  const size_t axis = node.axis(node.integer("axis", 0), shape.size());
  const std::string old = here(in(0), shape);
  if (element_count(updates) == 0) return copied(node, shape, old);
  check_comparisons(node, element_count(shape), updates[axis]);
  std::vector<std::string> conditions;
  Indices at;
  for (size_t i = 0; i < shape.size(); ++i) {
    node.refuse_unless(i == axis || updates[i] <= shape[i], "'indices' is larger than the data");
    const bool is_smaller = i != axis && updates[i] < shape[i];
    if (is_smaller) conditions.push_back(fmt::format("i{} < {}", i, updates[i]));
    at.push_back(is_smaller ? fmt::format("min({}, i{})", updates[i] - 1, i) : fmt::format("i{}", i));
  }
  const std::string position = at[axis];
  at[axis] = "r0";
  conditions.push_back(fmt::format("{} == {}", from_front(element(in(1), at), shape[axis]), position));
  const std::string match = fmt::format("{}", fmt::join(conditions, " and "));
  const DType dtype = node.dtype(0);
  if (!reducing.kind.empty())
    return scatter_reduced(node, reducing, {"r0"}, {updates[axis]}, match, element(in(2), at));
  std::string text =
      statement(temporary(0), shape,
                reduction("max", {"r0"}, {updates[axis]}, fmt::format("i64(select({}, r0, -1))", match)));
  const std::string last = here(temporary(0), shape);
  at[axis] = fmt::format("at({})", last);
  return computed(
      dtype, shape,
      text + statement(out(0), shape, fmt::format("select({} < 0, {}, {})", last, old, element(in(2), at))));
}

/// The extents of the axes that an index addresses.
Shape extents_from(const Shape& data, size_t first, int64_t count) {
  Shape made;
  for (size_t axis = first; axis < data.size() && std::ssize(made) < count; ++axis)
    made.push_back(data[axis]);
  return made;
}

/// The same, where as many elements as `by` says exist along one of them.
TensorIndex existing_extents(Graph& graph, Shape extents, size_t axis, TensorIndex by) {
  Shape counted(extents.size(), 0);
  counted[axis] = 1;
  extents[axis] = 0;
  return graph.add("Add", {graph.integers(extents), graph.add("Mul", {graph.integers(counted), by})});
}

/// Of data, indices or updates whose extents are data: the indices of updates that do not exist become a
/// place behind the data, where nothing is written.
bool scatter_of_counted(const NodeReader& node, network::Expansion& to) {
  const auto of_data = node.count(0), of_indices = node.count(1), of_updates = node.count(2);
  if (!node.has(2) || (!of_data && !of_indices)) return false;
  const bool by_tuples = node.op() == "ScatterND";
  const Shape &data = node.shape(0), &indices = node.shape(1);
  const auto depth = by_tuples && !indices.empty() ? indices.back() : int64_t{1};
  const size_t first = by_tuples ? 0 : node.axis(node.integer("axis", 0), data.size());
  const Shape behind = extents_from(data, first, depth);
  const bool along_data = of_data && of_data->axis >= first && of_data->axis - first < behind.size();
  if (!of_indices && !along_data) return false;
  node.refuse_unless(of_indices == of_updates,
                     "of 'indices' and 'updates' an extent is data, and it is not one extent of both");
  node.refuse_unless(!of_indices || !by_tuples || of_indices->axis + 1 < indices.size(),
                     "the number of axes that 'indices' address is data");
  Graph graph(to);
  const auto whole = [&](size_t input) {
    return node.count(input) ? to.whole(node.input(input)) : node.input(input);
  };
  TensorIndex at = graph.cast(whole(1), kI64);
  if (along_data) {
    const TensorIndex from_end =
        graph.add("Add", {at, existing_extents(graph, behind, of_data->axis - first, of_data->by)});
    at = graph.add("Where", {graph.add("Less", {at, graph.integer(0)}), from_end, at});
  }
  if (of_indices) {
    std::vector<int64_t> along(indices.size(), 1);
    along[of_indices->axis] = indices[of_indices->axis];
    const TensorIndex exists = graph.add("Less", {graph.range(indices[of_indices->axis]), of_indices->by});
    at = graph.add("Where", {graph.reshape(exists, along), at, graph.integers(behind)});
  }
  for (const auto& [name, value] : node.node().attributes) node.ignore(name);
  const TensorIndex made =
      graph.add_all(node.op(), {whole(0), at, whole(2)}, node.node().attributes, 1, node.version())[0];
  to.give(0, of_data ? to.counted(made, of_data->axis, of_data->by) : made);
  return true;
}

/// Overwrites a range of a cache, which begins at each batch's index.
Computation tensor_scatter(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", -2), shape.size());
  const std::string mode = node.choice("mode", {"linear", "circular"});
  node.refuse_unless(axis > 0, "the axis is that of the batch");
  Shape expected = shape;
  if (node.rank(1) == shape.size()) expected[axis] = node.shape(1)[axis];
  node.refuse_unless(
      node.shape(1) == expected && expected[axis] <= shape[axis] && node.dtype(1) == node.dtype(0),
      "the update does not fit the cache");
  if (node.has(2))
    node.refuse_unless(node.shape(2) == Shape{shape[0]} && node.dtype(2) == kI64,
                       "'write_indices' is not one i64 for each batch");
  std::string distance = fmt::format("(i64(i{}) - {})", axis, node.has(2) ? "in2[i0]" : "0");
  if (mode == "circular") distance = fmt::format("({} % {})", distance, shape[axis]);
  Indices at = axis_names(shape.size());
  at[axis] = fmt::format("at({})", distance);
  return copied(node, shape,
                fmt::format("select({0} >= 0 and {0} < {1}, {2}, {3})", distance, expected[axis],
                            element(in(1), at), here(in(0), shape)));
}

}  // namespace

std::vector<Row> scattering_operators() {
  return {{"ScatterND", 11, scatter_nd, false, false, scatter_of_counted},
          {"ScatterElements", 11, scatter_elements, false, false, scatter_of_counted},
          {"Scatter", 9, scatter_elements, false, false, scatter_of_counted},
          {"TensorScatter", 24, tensor_scatter}};
}

}  // namespace tunesmith::operators_onnx
