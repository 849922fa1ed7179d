#include "sampling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry.h"
#include "window.h"

namespace tunesmith::operators_onnx {

std::string SampledAxis::position(const std::string& x) const {
  if (outside == Outside::Zeros) return x;
  if (outside == Outside::Border || (corners && extent == 1))
    return fmt::format("max(0, min({}, {}))", extent - 1, x);
  const double first = corners ? 0 : -0.5, range = static_cast<double>(corners ? extent - 1 : extent);
  const std::string far = fmt::format("abs({} - ({}))", x, first);
  const std::string turn = fmt::format("({0} - {1} * floor({0} / {1}))", far, 2 * range);
  return fmt::format("select({0} < ({1}) or {0} > {2}, ({1}) + min({3}, {4} - {3}), {0})", x, first,
                     first + range, turn, 2 * range);
}

std::string SampledAxis::index(const std::string& index) const {
  if (outside != Outside::Reflection || (corners && extent == 1)) return index;
  const int64_t turn = corners ? 2 * (extent - 1) : 2 * extent;
  return fmt::format("min(({0}) % {1}, {2} - ({0}) % {1})", index, turn, corners ? turn : turn - 1);
}

std::string tap_weight(size_t taps, const std::string& r, const std::string& f) {
  if (taps == 2) return fmt::format("select({0} == 0, 1 - {1}, {1})", r, f);
  // Keys' kernel with a = -0.75.
  const auto near = [](const std::string& d) {
    return fmt::format("((1.25 * {0} - 2.25) * {0} * {0} + 1)", d);
  };
  const auto far = [](const std::string& d) {
    return fmt::format("(((-0.75 * {0} + 3.75) * {0} - 6) * {0} + 3)", d);
  };
  return fmt::format("select({0} < 2, select({0} == 0, {1}, {2}), select({0} == 2, {3}, {4}))", r,
                     far(fmt::format("({} + 1)", f)), near(f), near(fmt::format("(1 - {})", f)),
                     far(fmt::format("(2 - {})", f)));
}

std::string zero_outside(const Indices& indices, const Shape& extents, const std::string& value) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < indices.size(); ++i)
    conditions.push_back(fmt::format("{0} >= 0 and {0} < {1}", indices[i], extents[i]));
  return fmt::format("select({}, {}, 0)", fmt::join(conditions, " and "), value);
}

namespace {

Outside read_outside(const NodeReader& node) {
  const std::string mode = node.choice("padding_mode", {"zeros", "border", "reflection"});
  if (mode == "border") return Outside::Border;
  return mode == "zeros" ? Outside::Zeros : Outside::Reflection;
}

size_t read_taps(const NodeReader& node) {
  const std::string mode = node.choice("mode", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  if (mode == "nearest") return 1;
  return mode.ends_with("linear") ? 2 : 4;
}

/// For each tap of each axis, statements over the grid's places, [batch, ...], compute indices and weights;
/// the last statement sums over the taps of all axes.
class GridSampling {
 public:
  explicit GridSampling(const NodeReader& node)
      : node_(node), taps_(read_taps(node)), spatial_(spatial_shape(node.shape(0))) {
    const Shape& grid = node.shape(1);
    node.refuse_unless(
        node.rank(0) >= 3 && node.rank(0) <= 5 && grid.size() == node.rank(0) &&
            grid[0] == node.shape(0)[0] && grid.back() == static_cast<int64_t>(spatial_.size()),
        "expected [batch, channels, ...] of one to three axes, and a grid with as many numbers");
    node.refuse_unless(node.dtype(0).is_float() && node.dtype(1).is_float(), "expected floating values");
    places_.assign(grid.begin(), grid.end() - 1);
    const bool corners = node.flag("align_corners", false);
    const Outside outside = read_outside(node);
    for (const int64_t extent : spatial_) axes_.push_back({extent, outside, corners});
  }

  Computation run() {
    const DType dtype = node_.dtype(0), type = wide(dtype);
    Shape shape{node_.shape(0)[0], node_.shape(0)[1]};
    shape.insert(shape.end(), places_.begin() + 1, places_.end());
    Indices indices, taps;
    std::string weight;
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      taps.push_back(fmt::format("r{}", axis));
      const auto [index, counts] = add_axis(axis);
      indices.push_back(element(index, of_place(taps_ == 1 ? Indices() : Indices{taps.back()})));
      if (taps_ > 1) weight += element(counts, of_place({taps.back()})) + " * ";
    }
    if (taps_ == 1) return computed(dtype, shape, script_.text + statement(out(0), shape, read(indices)));
    const std::string sum = reduction("sum", taps, Shape(taps.size(), static_cast<int64_t>(taps_)),
                                      weight + to_wide(dtype, read(indices)));
    if (type == dtype) return computed(dtype, shape, script_.text + statement(out(0), shape, sum));
    const std::string value = from_wide(dtype, script_.here(shape, sum));
    return computed(dtype, shape, script_.text + statement(out(0), shape, value));
  }

 private:
  /// Adds the axis's arrays of indices and weights, with taps as their last axis. The grid's last axis lists
  /// coordinates from the image's last axis to its first.
  std::pair<std::string, std::string> add_axis(size_t axis) {
    const SampledAxis& sampled = axes_[axis];
    const DType given = node_.dtype(1), type = wide(given);
    Indices at = axis_names(places_.size());
    at.push_back(fmt::format("{}", axes_.size() - 1 - axis));
    const std::string n = to_wide(given, element(in(1), at));
    std::string x = script_.here(
        places_, sampled.corners
                     ? fmt::format("({} + 1) * {}", n, static_cast<double>(sampled.extent - 1) / 2)
                     : fmt::format("(({} + 1) * {} - 1) * 0.5", n, sampled.extent));
    if (taps_ == 1) x = script_.here(places_, rounded(x));
    // Each of four taps is clamped or reflected on its own, as in PyTorch and onnxruntime.
    if (taps_ < 4) x = script_.here(places_, sampled.position(x));
    if (taps_ == 1) return {script_.make(places_, fmt::format("i64({})", x)), ""};
    const std::string below = script_.here(places_, fmt::format("floor({})", x));
    Shape with_taps = places_;
    with_taps.push_back(static_cast<int64_t>(taps_));
    const std::string r = fmt::format("i{}", places_.size());
    const std::string counts = script_.make(
        with_taps,
        convert(type, wide(node_.dtype(0)), tap_weight(taps_, r, fmt::format("({} - {})", x, below))));
    const std::string index =
        script_.here(with_taps, fmt::format("i64({}) + {} - {}", below, r, taps_ / 2 - 1));
    return {script_.make(with_taps, sampled.index(index)), counts};
  }

  /// The index of a place in a statement over the result, which has a channel axis, too.
  Indices of_place(const Indices& more) const {
    Indices at{"i0"};
    for (size_t i = 1; i < places_.size(); ++i) at.push_back(fmt::format("i{}", i + 1));
    at.insert(at.end(), more.begin(), more.end());
    return at;
  }

  std::string read(const Indices& indices) const {
    Indices at{"i0", "i1"};
    for (const std::string& index : indices) at.push_back(fmt::format("at({})", index));
    const std::string value = element(in(0), at);
    return axes_[0].outside == Outside::Zeros ? zero_outside(indices, spatial_, value) : value;
  }

  const NodeReader& node_;
  size_t taps_;
  Shape spatial_, places_;
  std::vector<SampledAxis> axes_;
  Script script_;
};

/// An image's places, from -1 to 1 along each axis, mapped by each batch's affine map.
Computation affine_grid(const NodeReader& node) {
  const Shape size = node.integers_of(1, "size");
  const size_t rank = size.size() < 2 ? 0 : size.size() - 2;
  const auto count = static_cast<int64_t>(rank);
  node.refuse_unless(
      (rank == 2 || rank == 3) && node.shape(0) == Shape{size[0], count, count + 1} &&
          node.dtype(0).is_float(),
      "expected maps [batch, 2, 3] or [batch, 3, 4] of floating values, and 'size' of as many axes");
  const bool corners = node.flag("align_corners", false);
  const DType dtype = node.dtype(0), type = wide(dtype);
  Shape shape{size[0]};
  for (size_t axis = 0; axis < rank; ++axis) {
    node.refuse_unless(size[2 + axis] > (corners ? 1 : 0),
                       "an axis has no place, or one place and aligned corners");
    shape.push_back(size[2 + axis]);
  }
  shape.push_back(count);
  const auto factor = [&](size_t j) {
    return to_wide(dtype, element(in(0), {"i0", fmt::format("i{}", rank + 1), fmt::format("{}", j)}));
  };
  std::string value = factor(rank);
  for (size_t j = 0; j < rank; ++j) {
    const size_t axis = rank - 1 - j;  // coordinates begin with the last axis
    const int64_t extent = size[2 + axis];
    const std::string place =
        corners ? fmt::format("({}(2*i{} - {}) / {})", type.str(), axis + 1, extent - 1, extent - 1)
                : fmt::format("({}(2*i{} - {}) / {})", type.str(), axis + 1, extent - 1, extent);
    value += fmt::format(" + {} * {}", factor(j), place);
  }
  return copied(node, shape, from_wide(dtype, value));
}

}  // namespace

std::vector<Row> sampling_operators() {
  return {{"GridSample", 16, [](const NodeReader& node) { return GridSampling(node).run(); }},
          {"AffineGrid", 20, affine_grid}};
}

}  // namespace tunesmith::operators_onnx
