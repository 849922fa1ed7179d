// Results whose extents depend on data: a tensor of the highest extent, and a count.
#include "counted.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// An extent of 1 would be broadcast.
constexpr int64_t kMinBound = 2;
constexpr int64_t kVersionOfNonZero = 13;

/// Running sums, by steps of doubled distances.
std::string running_sums(Script& script, std::string sums, int64_t count) {
  for (int64_t distance = 1; distance < count; distance *= 2)
    sums = script.make({count}, fmt::format("{0}[i0] + select(i0 >= {1}, {0}[i0 - {1}], 0)", sums, distance));
  return sums;
}

/// The number of sums, which ascend, that are at most i0: a binary search by all bits of the number.
std::string at_most(Script& script, const std::string& sums, int64_t count, int64_t bound) {
  std::string below;
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count))); step > 0; step /= 2) {
    const std::string from = below.empty() ? "i64(0)" : below + "[i0]";
    const std::string last =
        below.empty() ? fmt::format("{}", step - 1) : fmt::format("at({} + {})", from, step - 1);
    below = script.make({bound}, fmt::format("{0} + select({0} + {1} <= {2} and {3}[{4}] <= i0, i64({1}), 0)",
                                             from, step, count, sums, last));
  }
  return below;
}

}  // namespace

Computation nonzero_of_data(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(!shape.empty(), "of a single value that is data, the number of axes is 0");
  const int64_t count = element_count(shape), bound = std::max(count, kMinBound);
  const auto rank = static_cast<int64_t>(shape.size());
  const Indices at = unravel("i0", shape);
  std::string is_one = element(in(0), at);
  if (!node.dtype(0).is_bool()) is_one += " != 0";
  if (node.has(1))
    is_one += fmt::format(" and {} < in1[0]", at[static_cast<size_t>(node.integer(kCountedAxis, 0))]);
  Script script;
  const std::string sums =
      running_sums(script, script.make({count}, fmt::format("select({}, i64(1), 0)", is_one)), count);
  std::string chosen = "i64(0)";
  if (count > 1) {
    const std::string found = at_most(script, sums, count, bound);
    const std::string place = script.make({bound}, fmt::format("min({}[i0], {})", found, count - 1));
    const Indices axes = unravel(place + "[i1]", shape);
    for (size_t axis = axes.size(); axis-- > 0;)
      if (axes[axis] != "0") chosen = fmt::format("select(i0 == {}, {}, {})", axis, axes[axis], chosen);
  }
  script.text += statement(out(0), {rank, bound}, chosen);
  script.text += statement(out(1), {}, fmt::format("{}[{}]", sums, count - 1));
  return {{{kI64, {rank, bound}}, {kI64, {}}}, {}, script.text};
}

bool count_nonzero(const NodeReader& node, network::Expansion& to) {
  if (node.constant(0) != nullptr || node.output_count() != 1) return false;
  if (element_count(node.shape(0)) == 0) {
    to.give(0, to.make_constant(make_constant(kI64, {static_cast<int64_t>(node.rank(0)), 0}, Shape())));
    return true;
  }
  Graph graph(to);
  std::vector<TensorIndex> inputs{node.input(0)};
  Graph::Attributes attributes;
  if (const auto count = node.count(0)) {
    inputs = {to.whole(inputs[0]), count->by};
    attributes[kCountedAxis] = static_cast<int64_t>(count->axis);
  }
  const auto made = graph.add_all("NonZero", inputs, attributes, 2, kVersionOfNonZero);
  to.give(0, to.counted(made[0], 1, made[1]));
  return true;
}

TensorIndex counted(network::Expansion& to, TensorIndex tensor, size_t axis, int64_t extent, TensorIndex by) {
  if (extent == 1) tensor = Graph(to).concat({tensor, tensor}, static_cast<int64_t>(axis));
  return to.counted(tensor, axis, by);
}

TensorIndex positions_of(Graph& graph, TensorIndex mask) {
  return graph.add("Squeeze", {graph.add("NonZero", {mask}), graph.integers({0})});
}

bool compress_by_data(const NodeReader& node, network::Expansion& to) {
  Graph graph(to);
  const std::vector<TensorIndex>& inputs = node.node().inputs;
  node.refuse_unless(node.rank(1) == 1 && node.dtype(1).is_bool(),
                     "its condition is not bools along one axis");
  TensorIndex from = inputs[0];
  int64_t axis = 0, extent = element_count(node.shape(0));
  if (node.has_attribute("axis")) {
    axis = static_cast<int64_t>(node.axis(node.integer("axis", 0), node.rank(0)));
    extent = node.shape(0)[static_cast<size_t>(axis)];
  } else if (node.rank(0) != 1) {
    from = graph.reshape(from, {extent});
  }
  node.refuse_unless(node.shape(1)[0] <= extent, "its condition is longer than the axis");
  to.give(0, graph.add("Gather", {from, positions_of(graph, inputs[1])}, {{"axis", axis}}));
  return true;
}

bool shape_of_counted(const NodeReader& node, network::Expansion& to) {
  const auto count = node.count(0);
  if (!count) return false;
  Graph graph(to);
  const auto rank = static_cast<int64_t>(node.rank(0));
  const auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t end = clamped(node.integer("end", rank));
  std::vector<TensorIndex> extents;
  for (int64_t axis = clamped(node.integer("start", 0)); axis < end; ++axis)
    extents.push_back(static_cast<size_t>(axis) == count->axis
                          ? graph.unsqueeze(count->by, 0)
                          : graph.integers({node.shape(0)[static_cast<size_t>(axis)]}));
  to.give(0, extents.empty() ? graph.integers({}) : graph.concat(extents, 0));
  return true;
}

bool size_of_counted(const NodeReader& node, network::Expansion& to) {
  const auto count = node.count(0);
  if (!count) return false;
  Graph graph(to);
  Shape others = node.shape(0);
  others[count->axis] = 1;
  to.give(0, graph.add("Mul", {count->by, graph.integer(element_count(others))}));
  return true;
}

/// Negative indices count from the end, which is data.
bool gather_of_counted(const NodeReader& node, network::Expansion& to) {
  const auto count = node.count(0);
  const bool along = count && count->axis == node.axis(node.integer("axis", 0), node.rank(0));
  if (!along) return false;
  node.refuse_unless(
      node.constant(1) == nullptr,
      "it takes elements at known places, which may not exist, of an axis whose extent is data");
  Graph graph(to);
  TensorIndex at = node.input(1);
  if (node.dtype(1) != kI64) at = graph.cast(at, kI64);
  const TensorIndex from_end = graph.add("Add", {at, count->by});
  at = graph.add("Where", {graph.add("Less", {at, graph.integer(0)}), from_end, at});
  to.give(0,
          graph.add("Gather", {to.whole(node.input(0)), at}, {{"axis", static_cast<int64_t>(count->axis)}}));
  return true;
}

/// Of an axis whose extent is data, or up to a place that is data.
bool slice_of_counted(const NodeReader& node, network::Expansion& to) {
  if (node.version() < 10 || node.constant(1) == nullptr || (node.has(3) && node.constant(3) == nullptr) ||
      (node.has(4) && node.constant(4) == nullptr))
    return false;
  const auto count = node.count(0);
  const std::vector<int64_t> starts = node.integers_of(1, "starts");
  std::vector<int64_t> given(starts.size());
  std::iota(given.begin(), given.end(), 0);
  if (node.has(3)) given = node.integers_of(3, "axes");
  const std::vector<size_t> axes = node.axes(given, node.rank(0));
  const bool along = count && std::ranges::find(axes, count->axis) != axes.end();
  if (!along && (count || node.constant(2) != nullptr)) return false;
  node.refuse_unless(
      axes.size() == 1 && starts.size() == 1 && element_count(node.shape(2)) == 1 && starts[0] >= 0 &&
          (!node.has(4) || node.integers_of(4, "steps").at(0) == 1),
      "where the extent of an axis or of the part is data, taken are parts of one axis that begin at "
      "a known place, in steps of 1");
  const int64_t bound = node.shape(0)[axes[0]], start = std::min(starts[0], bound);
  if (along && start == 0 && node.constant(2) != nullptr && node.integer_of(2, "ends") >= bound) {
    to.give(0, node.input(0));
    return true;
  }
  Graph graph(to);
  const TensorIndex extent = along ? count->by : graph.integer(bound);
  int64_t last = bound;
  TensorIndex end;
  if (node.constant(2) == nullptr) {
    end = graph.reshape(graph.cast(node.input(2), kI64), {});
    const TensorIndex from_end = graph.add("Add", {end, extent});
    end = graph.add("Where", {graph.add("Less", {end, graph.integer(0)}), from_end, end});
    end = graph.add("Min", {extent, end});
  } else {
    const int64_t known = node.integer_of(2, "ends");
    end = known < 0 ? graph.add("Add", {extent, graph.integer(known)})
                    : graph.add("Min", {extent, graph.integer(known)});
    last = std::clamp(known < 0 ? bound + known : known, start, bound);
  }
  // The difference of an end below the start could overflow.
  const TensorIndex from = graph.integer(start);
  const TensorIndex length = graph.add("Sub", {graph.add("Max", {end, from}), from});
  const TensorIndex whole = along ? to.whole(node.input(0)) : node.input(0);
  const TensorIndex part = graph.slice(whole, static_cast<int64_t>(axes[0]), start, last);
  if (last == start) {
    to.give(0, part);
    return true;
  }
  to.give(0, counted(to, part, axes[0], last - start, length));
  return true;
}

/// Takes the elements that exist out of the concatenation of all.
bool concat_of_counted(const NodeReader& node, network::Expansion& to) {
  const size_t axis = node.axis(node.integer("axis", 1), node.rank(0));
  const auto along = [&](size_t input) {
    const auto count = node.count(input);
    return count && count->axis == axis ? count : std::nullopt;
  };
  bool any = false;
  for (size_t i = 0; i < node.input_count(); ++i) any |= along(i).has_value();
  if (!any) return false;
  if (node.input_count() == 1) {
    to.give(0, node.input(0));
    return true;
  }
  Graph graph(to);
  std::vector<TensorIndex> wholes, counts;
  std::vector<int64_t> begins;
  int64_t bound = 0;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const auto count = along(i);
    wholes.push_back(count ? to.whole(node.input(i)) : node.input(i));
    counts.push_back(count ? graph.unsqueeze(count->by, 0) : graph.integers({node.shape(i).at(axis)}));
    begins.push_back(bound);
    bound += node.shape(i)[axis];
  }
  // An element belongs to the input before which as many inputs end as end before the element.
  const TensorIndex own = graph.concat(counts, 0);
  const TensorIndex ends = graph.add("CumSum", {own, graph.integer(0)});
  const TensorIndex here = graph.range(bound);
  const TensorIndex is_behind = graph.add("LessOrEqual", {graph.unsqueeze(ends, 1), here});
  const TensorIndex input =
      graph.add("ReduceSum", {graph.cast(is_behind, kI64), graph.integers({0})}, {{"keepdims", int64_t{0}}});
  const TensorIndex shifts = graph.add("Add", {graph.integers(begins), graph.add("Sub", {own, ends})});
  const TensorIndex from =
      graph.add("Add", {here, graph.add("Gather", {shifts, input}, {{"axis", int64_t{0}}})});
  const auto along_axis = static_cast<int64_t>(axis);
  const TensorIndex joined =
      graph.add("Gather", {graph.concat(wholes, along_axis), from}, {{"axis", along_axis}});
  const TensorIndex existing = graph.take(ends, 0, static_cast<int64_t>(counts.size()) - 1);
  to.give(0, to.counted(joined, axis, existing));
  return true;
}

/// Where the counted axis is joined with the axes behind it, its first elements are the first of the joined
/// axis.
bool reshape_of_counted(const NodeReader& node, network::Expansion& to) {
  const auto count = node.count(0);
  if (!count || node.constant(1) == nullptr || node.flag("allowzero", false)) return false;
  const Shape& from = node.shape(0);
  Shape shape = node.integers_of(1, "shape");
  const auto open = static_cast<size_t>(std::ranges::find(shape, -1) - shape.begin());
  int64_t before = 1, behind = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = i < from.size() ? from[i] : 0;
    if (i != open) (i < open ? before : behind) *= shape[i];
  }
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(count->axis);
  const int64_t inner = element_count({at + 1, from.end()});
  if (open == shape.size() || before != element_count({from.begin(), at}) || behind < 1 || behind >= inner ||
      inner % behind != 0)
    return false;
  const int64_t factor = inner / behind;
  shape[open] = *at * factor;
  Graph graph(to);
  const TensorIndex joined = graph.reshape(to.whole(node.input(0)), shape);
  to.give(0, to.counted(joined, open, graph.add("Mul", {count->by, graph.integer(factor)})));
  return true;
}

}  // namespace tunesmith::operators_onnx
