// Operators that take parts of a tensor, or join tensors.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

struct Cut {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// Slices as Python does: negative ends count from the back, ends beyond the axis are clamped.
Cut cut(int64_t extent, int64_t start, int64_t end, int64_t step) {
  const bool forward = step > 0;
  const auto clamped = [&](int64_t at) {
    if (at < 0) at += extent;
    return forward ? std::clamp<int64_t>(at, 0, extent) : std::clamp<int64_t>(at, -1, extent - 1);
  };
  const int64_t first = clamped(start);
  const int64_t last = clamped(end);
  const int64_t distance = forward ? last - first : first - last;
  const int64_t stride = forward ? step : -step;
  return {first, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

struct Ends {
  std::vector<int64_t> starts, ends, axes, steps;
};

/// These are attributes before version 10, and inputs since.
Ends read_ends(const NodeReader& node) {
  Ends made;
  if (node.version() < 10) {
    const auto starts = node.integers("starts");
    const auto ends = node.integers("ends");
    if (!starts || !ends) node.refuse("attribute 'starts' or 'ends' is missing");
    made = {*starts, *ends, node.integers("axes").value_or(std::vector<int64_t>()), {}};
  } else {
    made.starts = node.integers_of(1, "starts");
    made.ends = node.integers_of(2, "ends");
    if (node.has(3)) made.axes = node.integers_of(3, "axes");
    if (node.has(4)) made.steps = node.integers_of(4, "steps");
  }
  const size_t count = made.starts.size();
  if (made.axes.empty())
    for (size_t i = 0; i < count; ++i) made.axes.push_back(static_cast<int64_t>(i));
  if (made.steps.empty()) made.steps.assign(count, 1);
  node.refuse_unless(made.ends.size() == count && made.axes.size() == count && made.steps.size() == count,
                     "'starts', 'ends', 'axes' and 'steps' have different lengths");
  return made;
}

Computation slice(const NodeReader& node) {
  const Ends given = read_ends(node);
  const std::vector<size_t> axes = node.axes(given.axes, node.rank(0));
  Shape shape = node.shape(0);
  Indices at = axis_names(shape.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t step = std::max(given.steps[i], -std::numeric_limits<int64_t>::max());
    node.refuse_unless(step != 0, "a step is 0");
    const Cut found = cut(shape[axes[i]], given.starts[i], given.ends[i], step);
    shape[axes[i]] = found.count;
    std::string& index = at[axes[i]];
    const std::string scaled_index =
        std::abs(step) == 1 ? index : fmt::format("{}*{}", index, std::abs(step));
    if (found.count == 1) {
      index = fmt::format("{}", found.start);
    } else if (step < 0) {
      index = fmt::format("{} - {}", found.start, scaled_index);
    } else {
      index = found.start == 0 ? scaled_index : fmt::format("{} + {}", scaled_index, found.start);
    }
  }
  return copied(node, shape, element(in(0), at));
}

/// The extents of the parts.
std::vector<int64_t> parts_of(const NodeReader& node, int64_t extent) {
  if (node.version() < 13) {
    if (const auto given = node.integers("split")) return *given;
  } else if (node.has(1)) {
    return node.integers_of(1, "split");
  }
  const int64_t count =
      node.version() >= 18 ? node.integer("num_outputs", 0) : static_cast<int64_t>(node.output_count());
  node.refuse_unless(count >= 1 && count == static_cast<int64_t>(node.output_count()),
                     "attribute 'num_outputs' is not the number of outputs");
  node.refuse_unless(node.version() >= 18 || extent % count == 0, "the axis cannot be split evenly");
  const int64_t size = (extent + count - 1) / count;
  std::vector<int64_t> parts(static_cast<size_t>(count), size);
  parts.back() = extent - size * (count - 1);
  return parts;
}

Computation split(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", 0), from.size());
  const std::vector<int64_t> parts = parts_of(node, from[axis]);
  node.refuse_unless(parts.size() == node.output_count(),
                     "'split' has another number of parts than there are outputs");
  Computation made;
  int64_t start = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    node.refuse_unless(parts[i] >= 0, "a part has a negative extent");
    Shape shape = from;
    shape[axis] = parts[i];
    Indices at = axis_names(from.size());
    if (start > 0) at[axis] += fmt::format(" + {}", start);
    if (node.wants(i) && element_count(shape) > 0)
      made.compute += statement(out(i), shape, element(in(0), at));
    made.outputs.push_back({node.dtype(0), std::move(shape)});
    start += parts[i];
  }
  node.refuse_unless(start == from[axis], "'split' does not add up to the axis");
  return made;
}

/// Joins the non-empty inputs along the axis by a chain of selects.
Computation concat(const NodeReader& node) {
  node.refuse_unless(node.version() < 4 || node.has_attribute("axis"), "attribute 'axis' is missing");
  const size_t axis = node.axis(node.integer("axis", 1), node.rank(0));
  Shape shape = node.shape(0);
  shape[axis] = 0;
  std::vector<std::string> values;
  std::vector<int64_t> ends;
  bool all_have_elements = true;
  for (size_t i = 0; i < node.input_count(); ++i) {
    Shape rest = node.shape(i);
    node.refuse_unless(rest.size() == shape.size() && node.dtype(i) == node.dtype(0),
                       fmt::format("input {} has another rank or type", i));
    const int64_t extent = rest[axis];
    Indices at = axis_names(shape.size());
    if (shape[axis] > 0) at[axis] += fmt::format(" - {}", shape[axis]);
    rest[axis] = shape[axis];
    node.refuse_unless(rest == shape, fmt::format("input {} does not fit the first along its other axes", i));
    shape[axis] += extent;
    if (extent == 0) {
      all_have_elements = false;
      continue;
    }
    values.push_back(element(in(i), at));
    ends.push_back(shape[axis]);
  }
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");
  // A tree of selects, so that many inputs do not nest deeply.
  const auto chain = [&](const auto& self, size_t first, size_t last) -> std::string {
    if (last - first == 1) return values[first];
    const size_t middle = (first + last) / 2;
    return fmt::format("select(i{} < {}, {}, {})", axis, ends[middle - 1], self(self, first, middle),
                       self(self, middle, last));
  };
  Computation made = copied(node, shape, chain(chain, 0, values.size()));
  if (all_have_elements) made.joined_axis = axis;
  return made;
}

}  // namespace

std::vector<Row> slicing_operators() {
  return {{"Slice", 1, slice, true, false, slice_of_counted},
          {"Split", 2, split, true},
          {"Concat", 1, concat, true, false, concat_of_counted}};
}

}  // namespace tunesmith::operators_onnx
