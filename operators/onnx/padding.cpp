// Pad.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The elements added before and behind each axis; negative numbers remove elements.
struct Pads {
  std::vector<int64_t> begin, end;
};

Pads read_pads(const NodeReader& node) {
  const size_t rank = node.rank(0);
  std::vector<int64_t> given;
  if (node.version() < 11) {
    given = node.integers("pads").value_or(std::vector<int64_t>());
  } else {
    given = node.integers_of(1, "pads");
  }
  const std::vector<size_t> axes =
      node.axes(node.has(3) ? std::optional(node.integers_of(3, "axes")) : std::nullopt, rank);
  node.refuse_unless(given.size() == 2 * axes.size(), "'pads' has not two values for each axis");
  Pads pads{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    pads.begin[axes[i]] = given[i];
    pads.end[axes[i]] = given[axes.size() + i];
  }
  return pads;
}

/// The value of the padding in mode 'constant'.
std::string fill_value(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  if (node.version() < 11) return literal(node, node.number("value", 0.0));
  if (!node.has(2)) return dtype.is_bool() ? "false" : "0";
  node.refuse_unless(node.dtype(2) == dtype, "the padding's value is of another type than the input");
  node.refuse_unless(element_count(node.shape(2)) == 1, "the padding's value is not a single value");
  return element(in(2), Indices(node.rank(2), "0"));
}

/// Maps position `at`, which may lie outside the axis, to the index of its element.
std::string padded_index(const NodeReader& node, const std::string& mode, const std::string& at,
                         int64_t extent, int64_t begin, int64_t end) {
  if (begin == 0 && end == 0) return at;
  if (mode == "edge") return fmt::format("max(0, min({}, {}))", extent - 1, at);
  if (mode == "wrap") {
    const int64_t turns = (std::max<int64_t>(begin, 0) + extent - 1) / extent * extent;
    return fmt::format("({} + {}) % {}", at, turns, extent);
  }
  node.refuse_unless(std::max(begin, end) < extent, "reflected padding is wider than the axis");
  // Mirrors at 0 and at the last element. The clamp changes nothing, but tells the analysis the bounds.
  return fmt::format("max(0, min({0}, max({1}, -{1}), {2} - max({1}, -{1})))", extent - 1, at,
                     2 * (extent - 1));
}

Computation pad(const NodeReader& node) {
  const std::string mode = node.choice("mode", {"constant", "reflect", "edge", "wrap"});
  const Pads pads = read_pads(node);
  const Shape& from = node.shape(0);
  Shape shape;
  Indices at;
  for (size_t i = 0; i < from.size(); ++i) {
    shape.push_back(from[i] + pads.begin[i] + pads.end[i]);
    node.refuse_unless(shape[i] >= 0, "more is cut off an axis than it has");
    std::string shifted = fmt::format("i{}", i);
    if (pads.begin[i] != 0)
      shifted += fmt::format(" {} {}", pads.begin[i] > 0 ? '-' : '+', std::abs(pads.begin[i]));
    at.push_back(mode == "constant" ? shifted
                                    : padded_index(node, mode, fmt::format("({})", shifted), from[i],
                                                   pads.begin[i], pads.end[i]));
  }
  if (mode != "constant") {
    node.ignore("value");
    return copied(node, shape, element(in(0), at));
  }
  const std::string fill = fill_value(node);
  const bool widens = std::ranges::any_of(pads.begin, [](int64_t each) { return each > 0; }) ||
                      std::ranges::any_of(pads.end, [](int64_t each) { return each > 0; });
  return copied(node, shape,
                widens ? fmt::format("inside({}, {})", element(in(0), at), fill) : element(in(0), at));
}

/// Crops larger axes to their middle, and pads smaller ones with zeros.
Computation center_crop_pad(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const std::vector<int64_t> wanted = node.integers_of(1, "shape");
  const std::vector<size_t> axes = node.axes(node.integers("axes"), from.size());
  node.refuse_unless(wanted.size() == axes.size(), "'shape' has not one value for each axis");
  Shape shape = from;
  Indices at = axis_names(from.size());
  bool widens = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t added = wanted[i] - from[axes[i]];
    node.refuse_unless(wanted[i] >= 1, "an axis is left without elements");
    shape[axes[i]] = wanted[i];
    widens = widens || added > 0;
    if (added != 0) at[axes[i]] += fmt::format(" {} {}", added > 0 ? '-' : '+', std::abs(added) / 2);
  }
  const std::string value = element(in(0), at);
  return copied(
      node, shape,
      widens ? fmt::format("inside({}, {})", value, node.dtype(0).is_bool() ? "false" : "0") : value);
}

}  // namespace

std::vector<Row> padding_operators() { return {{"Pad", 2, pad}, {"CenterCropPad", 18, center_crop_pad}}; }

}  // namespace tunesmith::operators_onnx
