// Operators whose output extents depend on values, where these are known. counted.cpp has the others.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

/// A float is zero where no bit but its sign is set, which is in the last byte.
bool is_zero_at(const Constant& values, int64_t position) {
  const auto width = static_cast<size_t>(values.dtype.bytes());
  const auto bytes = values.bytes.subspan(static_cast<size_t>(position) * width, width);
  const std::byte last = bytes.back() & std::byte{values.dtype.is_float() ? uint8_t{0x7f} : uint8_t{0xff}};
  return last == std::byte{0} &&
         std::ranges::all_of(bytes.first(width - 1), [](std::byte each) { return each == std::byte{0}; });
}

/// The indices of elements that are not zero, axis by axis.
Computation nonzero(const NodeReader& node) {
  if (node.constant(0) == nullptr || node.output_count() > 1) return nonzero_of_data(node);
  const Constant& values = node.values(0, "X");
  const int64_t count = element_count(values.shape);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i)
    if (!is_zero_at(values, i)) places.push_back(i);
  const Shape shape{static_cast<int64_t>(values.shape.size()), static_cast<int64_t>(places.size())};
  std::vector<int64_t> positions;
  int64_t stride = count;
  for (const int64_t extent : values.shape) {
    stride /= std::max<int64_t>(extent, 1);
    for (const int64_t place : places) positions.push_back(place / stride % extent);
  }
  return {{{kI64, shape}}, {make_constant(kI64, shape, positions)}, ""};
}

/// Selects indices of an axis, or of the flattened input, by a known condition.
bool compress(const NodeReader& node, network::Expansion& to) {
  if (node.constant(1) == nullptr) return compress_by_data(node, to);
  const std::vector<int64_t> condition = node.integers_of(1, "condition");
  Graph graph(to);
  TensorIndex from = node.input(0);
  int64_t axis = 0, extent = element_count(node.shape(0));
  if (node.has_attribute("axis")) {
    axis = static_cast<int64_t>(node.axis(node.integer("axis", 0), node.rank(0)));
    extent = node.shape(0)[static_cast<size_t>(axis)];
  } else {
    from = graph.reshape(from, {extent});
  }
  node.refuse_unless(static_cast<int64_t>(condition.size()) <= extent,
                     "its condition is longer than the axis");
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) chosen.push_back(static_cast<int64_t>(i));
  to.give(0, graph.add("Gather", {from, graph.integers(chosen)}, {{"axis", axis}}));
  return true;
}

}  // namespace

std::vector<Row> known_value_operators() {
  return {{"NonZero", 9, nonzero, true, false, count_nonzero},
          {"Compress", 9, never_defined, true, false, compress}};
}

}  // namespace tunesmith::operators_onnx
