// RoiAlign and DeformConv: interpolate images at positions that boxes or offsets give.
#include <fmt/format.h>

#include "registry.h"
#include "sampling.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

/// Indices and weights of the two elements around each position of one axis, as a last axis of extent 2.
struct AxisTaps {
  std::string index, weight;
};

/// Linear interpolation at positions `y` over `places`; the weights are 0 where `counts` is false.
AxisTaps linear_taps(Script& script, const Shape& places, const std::string& y, const std::string& counts) {
  Shape with_taps = places;
  with_taps.push_back(2);
  const std::string r = fmt::format("i{}", places.size());
  const std::string below = script.here(places, fmt::format("floor({})", y));
  const std::string weight = tap_weight(2, r, fmt::format("({} - {})", y, below));
  return {script.make(with_taps, fmt::format("i64({}) + {}", below, r)),
          script.make(with_taps, counts.empty() ? weight : fmt::format("select({}, {}, 0)", counts, weight))};
}

struct RoiAxis {
  size_t axis;  ///< position in the boxes' corners: 0 is the width
  int64_t extent, bins;
};

/// Arrays [boxes, bins, samples of a bin, 2]. Samples more than one element outside have weight 0.
AxisTaps roi_taps(const NodeReader& node, Script& script, const RoiAxis& roi, int64_t samples,
                  bool half_pixel) {
  const DType given = node.dtype(1), type = wide(given);
  const double scale = node.number("spatial_scale", 1.0);
  const int64_t boxes = node.shape(1)[0];
  const auto corner = [&](size_t number) {
    const std::string value = fmt::format(
        "{} * {}", to_wide(given, element(in(1), {"i0", fmt::format("{}", number)})), literal(node, scale));
    return half_pixel ? fmt::format("({} - 0.5)", value) : fmt::format("({})", value);
  };
  const std::string length = fmt::format("({} - {})", corner(roi.axis + 2), corner(roi.axis));
  const std::string first = element(script.make({boxes}, corner(roi.axis)), {"i0"});
  const std::string bin = element(
      script.make({boxes},
                  fmt::format("{} / {}", half_pixel ? length : fmt::format("max({}, 1)", length), roi.bins)),
      {"i0"});
  const Shape places{boxes, roi.bins, samples};
  const std::string t = type.str();
  const std::string y = script.here(
      places, fmt::format("{0} + {1}(i1) * {2} + ({1}(i2) + 0.5) * {2} / {3}", first, t, bin, samples));
  const std::string inside = script.here(places, fmt::format("max(0, min({}, {}))", roi.extent - 1, y));
  return linear_taps(script, places, inside, fmt::format("{0} >= -1 and {0} <= {1}", y, roi.extent));
}

Computation roi_align(const NodeReader& node) {
  const Shape& x = node.shape(0);
  node.refuse_unless(
      x.size() == 4 && node.rank(1) == 2 && node.shape(1)[1] == 4 &&
          node.shape(2) == Shape{node.shape(1)[0]} && node.dtype(2) == kI64,
      "expected an image [batch, channels, height, width], boxes [count, 4] and an i64 for each");
  node.refuse_unless(node.dtype(0).is_float() && node.dtype(1) == node.dtype(0),
                     "expected floating values of one type");
  const int64_t samples = node.integer("sampling_ratio", 0);
  node.refuse_unless(samples >= 1,
                     "attribute 'sampling_ratio' is 0: how many samples are taken would hang on the boxes");
  const bool half_pixel =
      node.version() >= 16 && node.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const std::string mode = node.choice("mode", {"avg", "max"});
  const int64_t height = node.integer("output_height", 1), width = node.integer("output_width", 1);
  node.refuse_unless(height >= 1 && width >= 1, "the output has no elements");
  Script script;
  const AxisTaps y = roi_taps(node, script, {1, x[2], height}, samples, half_pixel);
  const AxisTaps w = roi_taps(node, script, {0, x[3], width}, samples, half_pixel);
  const DType dtype = node.dtype(0);
  const Indices of_y{"i0", "i2", "r0", "r2"}, of_x{"i0", "i3", "r1", "r3"};
  const auto at = [](const std::string& index) { return fmt::format("at({})", index); };
  const std::string read =
      element(in(0), {at("in2[i0]"), "i1", at(element(y.index, of_y)), at(element(w.index, of_x))});
  // The weights have the boxes' type, which is also the image's.
  const std::string term =
      fmt::format("{} * {} * {}", element(y.weight, of_y), element(w.weight, of_x), to_wide(dtype, read));
  const Shape shape{node.shape(1)[0], x[1], height, width};
  std::string value = script.here(shape, reduction(mode == "avg" ? "sum" : "max", {"r0", "r1", "r2", "r3"},
                                                   {samples, samples, 2, 2}, term));
  if (mode == "avg") value = fmt::format("{} / {}", value, samples * samples);
  return finished(dtype, shape, script.text, value);
}

void check_deformed(const NodeReader& node, const Window& window, int64_t groups, int64_t offset_groups) {
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(1);
  const int64_t taps = w[2] * w[3];
  node.refuse_unless(groups >= 1 && x[1] == w[1] * groups && w[0] % groups == 0 && offset_groups >= 1 &&
                         x[1] % offset_groups == 0,
                     "the channels of input, kernel and offsets do not fit the groups");
  const Shape offsets{x[0], offset_groups * taps * 2, window.output[0], window.output[1]};
  node.refuse_unless(node.shape(2) == offsets, "the offsets are not two for each element of the kernel");
  if (node.has(3)) node.refuse_unless(node.shape(3) == Shape{w[0]}, "the bias is not one for each channel");
  if (node.has(4))
    node.refuse_unless(node.shape(4) == Shape{x[0], offset_groups * taps, window.output[0], window.output[1]},
                       "the mask is not one for each element of the kernel");
  for (size_t i = 0; i < node.input_count(); ++i)
    node.refuse_unless(!node.has(i) || (node.dtype(i) == node.dtype(0) && node.dtype(0).is_float()),
                       "expected floating values of one type");
}

/// Arrays [batch, groups of offsets * elements of the kernel, height, width, 2].
AxisTaps deformed_taps(const NodeReader& node, Script& script, const Window& window, size_t axis,
                       int64_t offset_groups) {
  const int64_t taps = window.kernel[0] * window.kernel[1];
  const Shape places{node.shape(0)[0], offset_groups * taps, window.output[0], window.output[1]};
  const DType dtype = node.dtype(0), type = wide(dtype);
  const std::string in_kernel = axis == 0 ? fmt::format("(i1 % {} // {})", taps, window.kernel[1])
                                          : fmt::format("(i1 % {})", window.kernel[1]);
  const std::string whole = fmt::format("{}(i{}*{} + {}*{} - {})", type.str(), 2 + axis, window.strides[axis],
                                        in_kernel, window.dilations[axis], window.begin[axis]);
  const std::string offset =
      to_wide(dtype, element(in(2), {"i0", fmt::format("2*i1 + {}", axis), "i2", "i3"}));
  return linear_taps(script, places, script.here(places, fmt::format("{} + {}", whole, offset)), "");
}

/// Multiplies the kernel with sampled elements [batch, channels, elements of the kernel, height, width].
Computation deform_conv(const NodeReader& node) {
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(1);
  node.refuse_unless(x.size() == 4 && w.size() == 4, "expected images and a kernel of two axes");
  check_kernel_shape(node, w);
  const Window window = read_window(node, spatial_shape(x), spatial_shape(w));
  const int64_t groups = node.integer("group", 1), offset_groups = node.integer("offset_group", 1);
  check_deformed(node, window, groups, offset_groups);
  const DType dtype = node.dtype(0);
  Script script;
  const AxisTaps rows = deformed_taps(node, script, window, 0, offset_groups);
  const AxisTaps columns = deformed_taps(node, script, window, 1, offset_groups);
  const int64_t taps = w[2] * w[3];
  const std::string place = fmt::format("i1 // {} * {} + i2", x[1] / offset_groups, taps);
  const Indices of_row{"i0", place, "i3", "i4", "r0"}, of_column{"i0", place, "i3", "i4", "r1"};
  const Indices indices{element(rows.index, of_row), element(columns.index, of_column)};
  const std::string read = zero_outside(
      indices, spatial_shape(x),
      element(in(0), {"i0", "i1", fmt::format("at({})", indices[0]), fmt::format("at({})", indices[1])}));
  const Shape sampled{x[0], x[1], taps, window.output[0], window.output[1]};
  std::string array =
      script.make(sampled, reduction("sum", {"r0", "r1"}, {2, 2},
                                     fmt::format("{} * {} * {}", element(rows.weight, of_row),
                                                 element(columns.weight, of_column), to_wide(dtype, read))));
  if (node.has(4))
    array = script.make(
        sampled, here(array, sampled) + " * " + to_wide(dtype, element(in(4), {"i0", place, "i3", "i4"})));
  const std::string channel = groups == 1 ? "r0" : fmt::format("i1 // {} * {} + r0", w[0] / groups, w[1]);
  const std::string term = element(array, {"i0", channel, fmt::format("r1*{} + r2", w[3]), "i2", "i3"}) +
                           " * " + to_wide(dtype, element(in(1), {"i1", "r0", "r1", "r2"}));
  const Shape shape{x[0], w[0], window.output[0], window.output[1]};
  std::string sum = script.here(shape, reduction("sum", {"r0", "r1", "r2"}, {w[1], w[2], w[3]}, term));
  if (node.has(3)) sum += " + " + to_wide(dtype, element(in(3), {"i1"}));
  return finished(dtype, shape, script.text, sum);
}

}  // namespace

std::vector<Row> region_operators() { return {{"RoiAlign", 10, roi_align}, {"DeformConv", 19, deform_conv}}; }

}  // namespace tunesmith::operators_onnx
