// Resize and Upsample, one axis after the other.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Where output position i of an axis comes from: i * ratio + offset, in the input.
struct Source {
  double ratio = 1;
  double offset = 0;
  double at(int64_t i) const { return static_cast<double>(i) * ratio + offset; }
};

/// (i * a + b) // c
struct Formula {
  int64_t a, b, c;
  std::string text(const std::string& axis) const { return fmt::format("({}*{} + {}) // {}", axis, a, b, c); }
};

/// The fraction with the smallest denominator that is as near as rounding of f32 allows.
std::optional<std::pair<int64_t, int64_t>> fraction(double value) {
  constexpr int64_t kMaxDenominator = 4096;
  for (int64_t denominator = 1; denominator <= kMaxDenominator; ++denominator) {
    const double numerator = std::round(value * static_cast<double>(denominator));
    if (std::abs(numerator / static_cast<double>(denominator) - value) <= 1e-6 * value)
      return std::pair(static_cast<int64_t>(numerator), denominator);
  }
  return std::nullopt;
}

/// The one that gives just these values.
std::optional<Formula> formula_of(const std::vector<int64_t>& values, double ratio) {
  const auto found = fraction(ratio);
  if (!found) return std::nullopt;
  for (const int64_t multiple : {1, 2, 4}) {
    const int64_t a = found->first * multiple;
    const int64_t c = found->second * multiple;
    for (int64_t b = values[0] * c; b < (values[0] + 1) * c; ++b) {
      const auto gives = [&](int64_t i) {
        return static_cast<int64_t>(std::floor(static_cast<double>(i * a + b) / static_cast<double>(c)));
      };
      int64_t i = 0;
      const auto count = static_cast<int64_t>(values.size());
      while (i < count && gives(i) == values[static_cast<size_t>(i)]) ++i;
      if (i == count) return Formula{a, b, c};
    }
  }
  return std::nullopt;
}

/// How an axis is resized.
struct AxisResize {
  int64_t from, to;
  double scale;
};

std::vector<AxisResize> read_extents(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  const bool is_upsample = node.op() == "Upsample";
  const size_t scales_input = is_upsample || node.version() < 11 ? 1 : 2;
  std::vector<int64_t> named(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) named[i] = static_cast<int64_t>(i);
  const std::vector<size_t> axes = node.axes(node.integers("axes").value_or(named), shape.size());
  std::vector<AxisResize> extents;
  for (const int64_t extent : shape) extents.push_back({extent, extent, 1.0});
  const bool has_scales = node.has(scales_input) && element_count(node.shape(scales_input)) > 0;
  if (has_scales) {
    const std::vector<double> scales = node.numbers_of(scales_input, "scales");
    node.refuse_unless(scales.size() == axes.size(), "'scales' has not one value for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisResize& each = extents[axes[i]];
      node.refuse_unless(scales[i] > 0, "a scale is not above 0");
      each.scale = scales[i];
      each.to = static_cast<int64_t>(std::floor(static_cast<double>(each.from) * scales[i]));
    }
    return extents;
  }
  node.refuse_unless(!is_upsample, "'scales' is empty");
  const std::vector<int64_t> sizes = node.integers_of(3, "sizes");
  node.refuse_unless(sizes.size() == axes.size(), "'sizes' has not one value for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisResize& each = extents[axes[i]];
    node.refuse_unless(sizes[i] > 0, "a size is not above 0");
    each.to = sizes[i];
    each.scale = static_cast<double>(each.to) / static_cast<double>(each.from);
  }
  return extents;
}

Source source_of(const NodeReader& node, const std::string& mode, const AxisResize& axis) {
  const double ratio = 1 / axis.scale;
  if (mode == "asymmetric") return {ratio, 0};
  if (mode == "align_corners") {
    node.refuse_unless(
        static_cast<double>(axis.to) == static_cast<double>(axis.from) * axis.scale,
        "with 'align_corners' and a scale that gives no whole extent, tools differ in where corners are");
    if (axis.to == 1) return {0, 0};
    return {static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1), 0};
  }
  if (mode == "pytorch_half_pixel" && axis.to == 1) return {0, 0};
  if (mode == "half_pixel" || mode == "pytorch_half_pixel") return {ratio, 0.5 * ratio - 0.5};
  if (mode == "tf_half_pixel_for_nn") return {ratio, 0.5 * ratio};
  node.refuse(fmt::format("attribute 'coordinate_transformation_mode' is '{}'", mode));
}

int64_t nearest(const NodeReader& node, const std::string& mode, double at) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(at));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(at));
  if (mode == "round_prefer_floor") return static_cast<int64_t>(std::ceil(at - 0.5));
  node.refuse_unless(mode == "round_prefer_ceil", fmt::format("attribute 'nearest_mode' is '{}'", mode));
  return static_cast<int64_t>(std::floor(at + 0.5));
}

/// What each tap counts, of {0}, how far its position is behind the tap at 0.
struct Tap {
  int64_t offset;
  std::string weight;
};

std::vector<Tap> taps_of(const NodeReader& node, const std::string& mode) {
  if (mode == "linear") return {{0, "(1 - {0})"}, {1, "{0}"}};
  node.refuse_unless(mode == "cubic", fmt::format("attribute 'mode' is '{}'", mode));
  node.refuse_unless(!node.flag("exclude_outside", false), "attribute 'exclude_outside' is 1");
  const std::string a = literal(node, node.number("cubic_coeff_a", -0.75));
  // Keys' kernel: of distances below 1, and between 1 and 2.
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
      node_.refuse_unless(extents_[i].to > 0, "an axis is left without elements");
      if (extents_[i].from != extents_[i].to || extents_[i].scale != 1.0) changed.push_back(i);
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
    if (changed.empty()) return copied(node_, shape_, broadcast(in(0), shape_, shape_));
    return computed(dtype, shape_, text);
  }

 private:
  std::string formula(size_t axis, const std::vector<int64_t>& values, const Source& source) const {
    const auto found = formula_of(values, source.ratio);
    if (!found) node_.refuse(fmt::format("its scale {} is no simple fraction", extents_[axis].scale));
    return found->text(fmt::format("i{}", axis));
  }

  std::string clamped(size_t axis, const std::string& index) const {
    return fmt::format("max(0, min({}, {}))", extents_[axis].from - 1, index);
  }

  Computation by_index(const std::vector<size_t>& changed, const std::string& nearest_mode) {
    Indices at = axis_names(shape_.size());
    for (const size_t axis : changed) {
      const Source source = source_of(node_, transformation_, extents_[axis]);
      std::vector<int64_t> values;
      for (int64_t i = 0; i < extents_[axis].to; ++i)
        values.push_back(nearest(node_, nearest_mode, source.at(i)));
      at[axis] = clamped(axis, formula(axis, values, source));
      shape_[axis] = extents_[axis].to;
    }
    return copied(node_, shape_, element(in(0), at));
  }

  /// Positions, weights and what lies between two axes are of a wide type: a narrow one counts to 256 alone.
  std::string interpolate(const std::string& from, const std::string& to, size_t axis, bool is_first,
                          bool is_last) {
    const Source source = source_of(node_, transformation_, extents_[axis]);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < extents_[axis].to; ++i)
      values.push_back(static_cast<int64_t>(std::floor(source.at(i))));
    const std::string below = formula(axis, values, source);
    const DType type = wide(node_.dtype(0));
    const std::string behind =
        fmt::format("({0}(i{1}) * {2} + {3} - {0}({4}))", type.str(), axis, literal(node_, source.ratio),
                    literal(node_, source.offset), below);
    shape_[axis] = extents_[axis].to;
    std::string value;
    for (const Tap& tap : taps_of(node_, mode_)) {
      Indices at = axis_names(shape_.size());
      at[axis] = clamped(axis, fmt::format("{} + {}", below, tap.offset));
      if (tap.offset < 0) at[axis] = clamped(axis, fmt::format("{} - {}", below, -tap.offset));
      value += (value.empty() ? "" : " + ") + fmt::format(fmt::runtime(tap.weight), behind) + " * " +
               convert(is_first ? node_.dtype(0) : type, type, element(from, at));
    }
    return statement(to, shape_, is_last ? convert(type, node_.dtype(0), value) : value);
  }

  const NodeReader& node_;
  std::string transformation_, mode_;
  std::vector<AxisResize> extents_;
  Shape shape_;
};

Computation resize(const NodeReader& node) {
  node.refuse_unless(!node.flag("antialias", false), "attribute 'antialias' is 1");
  node.refuse_unless(node.text("keep_aspect_ratio_policy", "stretch") == "stretch",
                     "attribute 'keep_aspect_ratio_policy' is not 'stretch'");
  for (const char* name : {"cubic_coeff_a", "exclude_outside", "extrapolation_value"}) node.ignore(name);
  const std::string nearest_mode = node.text("nearest_mode", "round_prefer_floor");
  return Resizing(node, node.text("coordinate_transformation_mode", "half_pixel"),
                  node.text("mode", "nearest"))
      .run(nearest_mode);
}

/// Of the versions before Resize; only its mode 'nearest' was defined to the element.
Computation upsample(const NodeReader& node) {
  node.refuse_unless(node.text("mode", "nearest") == "nearest", "attribute 'mode' is not 'nearest'");
  return Resizing(node, "asymmetric", "nearest").run("floor");
}

}  // namespace

std::vector<Row> resizing_operators() {
  return {{"Resize", 10, upsample}, {"Resize", 11, resize}, {"Upsample", 9, upsample}};
}

}  // namespace tunesmith::operators_onnx
