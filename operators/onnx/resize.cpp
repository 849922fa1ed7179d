// Resize and Upsample, one axis after the other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 30;

struct Fraction {
  int64_t numerator = 1, denominator = 1;
};

/// The fraction with the smallest denominator between two positive numbers.
Fraction simplest_between(double low, double high) {
  const double whole = std::floor(low);
  if (whole == low || whole + 1 <= high) return {static_cast<int64_t>(std::ceil(low)), 1};
  const auto [denominator, numerator] = simplest_between(1 / (high - whole), 1 / (low - whole));
  return {static_cast<int64_t>(whole) * denominator + numerator, denominator};
}

/// The fraction that a scale stands for: files contain 5/3 only as an f32.
Fraction fraction_of(float scale) {
  const auto midway = [&](float towards) {
    return (static_cast<double>(scale) + static_cast<double>(std::nextafter(scale, towards))) / 2;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return simplest_between(midway(0), midway(kInfinity));
}

/// Maps position i of an output axis to position (i * a + b) / c of the input.
struct Source {
  int64_t a, b, c;

  std::string numerator(const std::string& axis) const { return fmt::format("({}*{} + {})", axis, a, b); }
  /// Divides by the common factor of a and c; what remains of b does not change the floor.
  std::string floor(const std::string& axis) const {
    const int64_t common = std::gcd(a, c);
    const int64_t beyond = (b % common + common) % common;
    const Source reduced{a / common, (b - beyond) / common, c / common};
    return fmt::format("{} // {}", reduced.numerator(axis), reduced.c);
  }
};

/// How an axis is resized.
struct AxisResize {
  int64_t from, to;
  Fraction scale;
};

/// Gives all resized axes the scale of one of them, and rounds their extents.
void keep_aspect_ratio(const NodeReader& node, const std::vector<size_t>& axes,
                       std::vector<AxisResize>& extents) {
  const std::string policy =
      node.choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  if (policy == "stretch") return;
  const auto is_less = [&](size_t a, size_t b) {
    const auto [of_a, of_b] = std::pair(extents[a].scale, extents[b].scale);
    return static_cast<double>(of_a.numerator) * static_cast<double>(of_b.denominator) <
           static_cast<double>(of_b.numerator) * static_cast<double>(of_a.denominator);
  };
  const Fraction scale = extents[policy == "not_larger" ? *std::ranges::min_element(axes, is_less)
                                                        : *std::ranges::max_element(axes, is_less)]
                             .scale;
  for (const size_t axis : axes) {
    extents[axis].to =
        (2 * extents[axis].from * scale.numerator + scale.denominator) / (2 * scale.denominator);
    node.refuse_unless(extents[axis].to >= 1 && extents[axis].to <= kMaxExtent,
                       "an axis is left without elements, or has too many");
    extents[axis].scale = scale;
  }
}

std::vector<AxisResize> read_extents(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  const bool is_upsample = node.op() == "Upsample";
  const size_t scales_input = is_upsample || node.version() < 11 ? 1 : 2;
  const std::vector<size_t> axes = node.axes(node.integers("axes"), shape.size());
  std::vector<AxisResize> extents;
  for (const int64_t extent : shape) extents.push_back({extent, extent, {}});
  const auto checked = [&](double extent) {
    node.refuse_unless(extent >= 1, "an axis is left without elements");
    node.refuse_unless(extent <= kMaxExtent, fmt::format("an axis is to have {} elements", extent));
    return static_cast<int64_t>(extent);
  };
  const bool by_attribute = is_upsample && node.version() < 9;
  const bool has_scales =
      by_attribute || (node.has(scales_input) && element_count(node.shape(scales_input)) > 0);
  if (has_scales) {
    const std::vector<double> scales = by_attribute ? node.numbers("scales").value_or(std::vector<double>())
                                                    : node.numbers_of(scales_input, "scales");
    node.refuse_unless(scales.size() == axes.size(), "'scales' has not one value for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisResize& each = extents[axes[i]];
      const auto scale = static_cast<float>(scales[i]);
      node.refuse_unless(scale > 0, "a scale is not above 0");
      // In f32, as ONNX Runtime does: 24 * 1.6666666 is 40.
      each.to = checked(std::floor(static_cast<float>(each.from) * scale));
      each.scale = fraction_of(scale);
    }
    return extents;
  }
  node.refuse_unless(!is_upsample, "'scales' is empty");
  const std::vector<int64_t> sizes = node.integers_of(3, "sizes");
  node.refuse_unless(sizes.size() == axes.size(), "'sizes' has not one value for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisResize& each = extents[axes[i]];
    node.refuse_unless(each.from > 0, "an axis without elements is resized");
    each.to = checked(static_cast<double>(sizes[i]));
    each.scale = {each.to, each.from};
  }
  keep_aspect_ratio(node, axes, extents);
  return extents;
}

Source source_of(const NodeReader& node, const std::string& mode, const AxisResize& axis) {
  const auto [up, down] = axis.scale;
  if (mode == "align_corners") {
    node.refuse_unless(
        axis.to * down == axis.from * up,
        "with 'align_corners' and a scale that gives no whole extent, tools differ in where corners are");
    if (axis.to == 1) return {0, 0, 1};
    return {axis.from - 1, 0, axis.to - 1};
  }
  if (mode == "asymmetric") return {down, 0, up};
  if (mode == "pytorch_half_pixel" && axis.to == 1) return {0, 0, 1};
  if (mode == "half_pixel" || mode == "pytorch_half_pixel") return {2 * down, down - up, 2 * up};
  // The result's extent was rounded: its centre comes from the input's centre.
  if (mode == "half_pixel_symmetric") return {2 * down, down - up + axis.from * up - axis.to * down, 2 * up};
  if (mode == "tf_half_pixel_for_nn") return {2 * down, down, 2 * up};
  node.refuse(fmt::format("attribute 'coordinate_transformation_mode' is '{}'", mode));
}

/// A source whose floor is the nearest element.
Source nearest(const NodeReader& node, const std::string& mode, const Source& at) {
  const auto [a, b, c] = at;
  if (mode == "floor") return at;
  if (mode == "ceil") return {a, b + c - 1, c};
  if (mode == "round_prefer_floor") return {2 * a, 2 * b + c - 1, 2 * c};
  node.refuse_unless(mode == "round_prefer_ceil", fmt::format("attribute 'nearest_mode' is '{}'", mode));
  return {2 * a, 2 * b + c, 2 * c};
}

/// A tap's offset and weight; {0} is the position's distance behind the tap with offset 0.
struct Tap {
  int64_t offset;
  std::string weight;
};

std::vector<Tap> taps_of(const NodeReader& node, const std::string& mode) {
  if (mode == "linear") return {{0, "(1 - {0})"}, {1, "{0}"}};
  node.refuse_unless(mode == "cubic", fmt::format("attribute 'mode' is '{}'", mode));
  node.refuse_unless(!node.flag("exclude_outside", false), "attribute 'exclude_outside' is 1");
  const std::string a = literal(node, node.number("cubic_coeff_a", -0.75));
  // Keys' kernel for distances below 1, and from 1 to 2.
  const auto near = [&](const std::string& d) {
    return fmt::format("((({0} + 2) * {1} - ({0} + 3)) * {1} * {1} + 1)", a, d);
  };
  const auto far = [&](const std::string& d) {
    return fmt::format("(({0} * {1} - 5 * {0}) * {1} * {1} + 8 * {0} * {1} - 4 * {0})", a, d);
  };
  return {{-1, far("({0} + 1)")}, {0, near("{0}")}, {1, near("(1 - {0})")}, {2, far("(2 - {0})")}};
}

/// Resizes one axis after the other, with one statement for each.
class Resizing {
 public:
  Resizing(const NodeReader& node, const std::string& transformation, std::string mode)
      : node_(node),
        transformation_(transformation),
        mode_(std::move(mode)),
        extents_(read_extents(node)),
        shape_(node.shape(0)) {}

  Computation run(const std::string& nearest_mode) {
    const DType dtype = node_.dtype(0);
    std::vector<size_t> changed;
    for (size_t i = 0; i < extents_.size(); ++i) {
      const auto [from, to, scale] = extents_[i];
      if (from != to || scale.numerator != scale.denominator) changed.push_back(i);
    }
    if (mode_ == "nearest") return by_index(changed, nearest_mode);
    node_.refuse_unless(dtype.is_float(), "expected floating values");
    std::string text;
    std::string from = in(0);
    for (size_t i = 0; i < changed.size(); ++i) {
      const bool is_last = i + 1 == changed.size();
      const std::string to = is_last ? out(0) : temporary(i);
      text += interpolate(from, to, changed[i], i == 0, is_last);
      from = to;
    }
    if (changed.empty()) return copied(node_, shape_, here(in(0), shape_));
    return computed(dtype, shape_, text);
  }

 private:
  std::string clamped(size_t axis, const std::string& index) const {
    return fmt::format("max(0, min({}, {}))", extents_[axis].from - 1, index);
  }

  Computation by_index(const std::vector<size_t>& changed, const std::string& nearest_mode) {
    Indices at = axis_names(shape_.size());
    for (const size_t axis : changed) {
      const Source at_axis = source_of(node_, transformation_, extents_[axis]);
      at[axis] = clamped(axis, nearest(node_, nearest_mode, at_axis).floor(fmt::format("i{}", axis)));
      shape_[axis] = extents_[axis].to;
    }
    return copied(node_, shape_, element(in(0), at));
  }

  /// Positions, weights and intermediate results have a wide type: bf16 counts exactly up to 256 only.
  std::string interpolate(const std::string& from, const std::string& to, size_t axis, bool is_first,
                          bool is_last) {
    const Source source = source_of(node_, transformation_, extents_[axis]);
    const std::string position = fmt::format("i{}", axis), below = source.floor(position);
    const DType type = wide(node_.dtype(0));
    const std::string behind = fmt::format("({}({} % {}) * {})", type.str(), source.numerator(position),
                                           source.c, literal(node_, 1 / static_cast<double>(source.c)));
    shape_[axis] = extents_[axis].to;
    std::string value;
    for (const Tap& tap : taps_of(node_, mode_)) {
      Indices at = axis_names(shape_.size());
      at[axis] = clamped(axis, fmt::format("{} + {}", below, tap.offset));
      if (tap.offset < 0) at[axis] = clamped(axis, fmt::format("{} - {}", below, -tap.offset));
      value += (value.empty() ? "" : " + ") + fmt::format(fmt::runtime(tap.weight), behind) + " * " +
               convert(is_first ? node_.dtype(0) : type, type, element(from, at));
    }
    return statement(to, shape_, is_last ? from_wide(node_.dtype(0), value) : value);
  }

  const NodeReader& node_;
  std::string transformation_, mode_;
  std::vector<AxisResize> extents_;
  Shape shape_;
};

Computation resize(const NodeReader& node) {
  node.refuse_unless(!node.flag("antialias", false), "attribute 'antialias' is 1");
  for (const char* name :
       {"keep_aspect_ratio_policy", "cubic_coeff_a", "exclude_outside", "extrapolation_value"})
    node.ignore(name);
  const std::string nearest_mode = node.text("nearest_mode", "round_prefer_floor");
  return Resizing(node, node.text("coordinate_transformation_mode", "half_pixel"),
                  node.text("mode", "nearest"))
      .run(nearest_mode);
}

/// Upsample, the predecessor of Resize, as onnxruntime computes it.
Computation upsample(const NodeReader& node) {
  const bool is_nearest = node.choice("mode", {"nearest", "linear", "bilinear"}) == "nearest";
  return Resizing(node, "asymmetric", is_nearest ? "nearest" : "linear").run("floor");
}

}  // namespace

std::vector<Row> resizing_operators() {
  return {
      {"Resize", 10, upsample}, {"Resize", 11, resize}, {"Upsample", 7, upsample}, {"Upsample", 9, upsample}};
}

}  // namespace tunesmith::operators_onnx
