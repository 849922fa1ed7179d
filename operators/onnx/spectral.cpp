// DFT and STFT, as products with matrices of sines and cosines.
#include <numbers>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The number of multiplications is the square of the number of points.
constexpr int64_t kMaxPoints = 1024;

void check_points(const NodeReader& node, int64_t points) {
  node.refuse_unless(points >= 1, "it has no points");
  if (points > kMaxPoints)
    node.refuse(fmt::format("a transform of {} points: it is a product of matrices, with at most {} points",
                            points, kMaxPoints));
}

/// Arrays [rows, columns] of cos and sin of 2 pi k n / points, times a weight for inverse transforms.
struct Circle {
  std::string cosines, sines;
};

Circle circle(Script& script, DType type, int64_t points, const Shape& shape,
              const std::string& weight = "") {
  // Reduces to one turn first, because large angles have lost digits.
  const std::string angle = fmt::format("f64(i64(i0) * i64(i1) % {}) * {:.17g}", points,
                                        2 * std::numbers::pi / static_cast<double>(points));
  const auto make = [&](std::string_view function) {
    const std::string value = fmt::format("{}({})", function, angle);
    return script.make(shape,
                       convert(kF64, type, weight.empty() ? value : fmt::format("{} * ({})", value, weight)));
  };
  return {make("cos"), make("sin")};
}

/// A real and an imaginary part; the latter may be "".
struct Parts {
  std::string real, imaginary;
};

Parts transformed(Script& script, const Shape& shape, int64_t terms, const Circle& factors,
                  const std::string& row, const Parts& of, bool inverse) {
  const auto sum = [&](const std::string& part, const std::string& factor) {
    if (part.empty()) return std::string();
    return script.here(shape, reduction("sum", {"r0"}, {terms}, part + " * " + element(factor, {row, "r0"})));
  };
  // The angles of a forward transform are negative.
  const std::string by_sine = sum(of.imaginary, factors.sines);
  std::string real = sum(of.real, factors.cosines);
  if (!by_sine.empty()) real += fmt::format(" {} {}", inverse ? "-" : "+", by_sine);
  std::string imaginary = fmt::format("{}{}", inverse ? "" : "-", sum(of.real, factors.sines));
  const std::string by_cosine = sum(of.imaginary, factors.cosines);
  if (!by_cosine.empty()) imaginary += " + " + by_cosine;
  return {real, imaginary};
}

/// Selects a part by the last axis of the result.
std::string both(const Parts& parts, size_t last) {
  return fmt::format("select(i{} == 0, {}, {})", last, parts.real, parts.imaginary);
}

/// The parts of the input's elements at these indices; the input's last axis has the parts.
Parts read_parts(const NodeReader& node, Indices at) {
  const DType dtype = node.dtype(0);
  at.emplace_back("0");
  Parts parts{to_wide(dtype, element(in(0), at)), ""};
  if (node.shape(0).back() == 1) return parts;
  at.back() = "1";
  parts.imaginary = to_wide(dtype, element(in(0), at));
  return parts;
}

struct Transform {
  size_t axis;
  int64_t points;
  bool inverse, onesided;
};

Transform read_transform(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(
      node.dtype(0).is_float() && shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2),
      "expected floating values with one or two numbers in the last axis");
  const bool by_input = node.version() >= 20;
  int64_t axis = by_input ? -2 : node.integer("axis", 1);
  if (by_input && node.has(2)) axis = node.integer_of(2, "axis");
  Transform made{node.axis(axis, shape.size()), 0, node.flag("inverse", false), node.flag("onesided", false)};
  node.refuse_unless(made.axis + 1 < shape.size(), "the axis is that of real and imaginary parts");
  const int64_t extent = shape[made.axis];
  made.points = made.inverse && made.onesided ? 2 * (extent - 1) : extent;
  if (node.has(1)) made.points = node.integer_of(1, "dft_length");
  check_points(node, made.points);
  return made;
}

Computation dft(const NodeReader& node) {
  const Transform made = read_transform(node);
  const DType dtype = node.dtype(0), type = wide(dtype);
  const int64_t half = made.points / 2 + 1;
  const bool to_real = made.inverse && made.onesided;
  Shape shape = node.shape(0);
  const int64_t terms = std::min(shape[made.axis], to_real ? half : made.points);
  shape[made.axis] = made.onesided && !made.inverse ? half : made.points;
  shape.back() = to_real ? 1 : 2;
  std::string weight = made.inverse ? fmt::format("1 / f64({})", made.points) : "";
  // The missing half is conjugate to the given one, so all terms but the first and the middle count twice.
  if (to_real)
    weight = fmt::format("select(i1 == 0 or 2*i1 == {}, f64(1), 2) / {}", made.points, made.points);
  Script script;
  const Circle factors = circle(script, type, made.points, {shape[made.axis], terms}, weight);
  const Shape without_parts(shape.begin(), shape.end() - 1);
  Indices at = axis_names(without_parts.size());
  const std::string row = at[made.axis];
  at[made.axis] = "r0";
  const Parts parts =
      transformed(script, without_parts, terms, factors, row, read_parts(node, at), made.inverse);
  const std::string value = to_real ? parts.real : both(parts, without_parts.size());
  return finished(dtype, shape, script.text, value);
}

/// Transforms windows of [batch, length, 1 or 2], one beginning at each step.
Computation stft(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(shape.size() == 3 && (shape[2] == 1 || shape[2] == 2) && node.dtype(0).is_float(),
                     "expected [batch, length, 1 or 2] of floating values");
  const int64_t step = node.integer_of(1, "frame_step");
  int64_t points = shape[1];
  if (node.has(2)) points = node.shape(2).at(0);
  if (node.has(3)) points = node.integer_of(3, "frame_length");
  check_points(node, points);
  node.refuse_unless(step >= 1 && points <= shape[1], "no frame fits the signal");
  if (node.has(2))
    node.refuse_unless(node.shape(2) == Shape{points} && node.dtype(2) == node.dtype(0),
                       "the window is not one value for each point of a frame");
  const bool onesided = node.flag("onesided", true);
  node.refuse_unless(!onesided || shape[2] == 1, "of complex values there is no single side");
  const DType dtype = node.dtype(0), type = wide(dtype);
  const int64_t frames = 1 + (shape[1] - points) / step;
  Script script;
  const Circle factors = circle(script, type, points, {onesided ? points / 2 + 1 : points, points});
  const Shape framed{shape[0], frames, points};
  const auto part_of_frame = [&](const std::string& value) {
    if (value.empty()) return value;
    const std::string weighted = node.has(2) ? value + " * " + to_wide(dtype, element(in(2), {"i2"})) : value;
    return element(script.make(framed, weighted), {"i0", "i1", "r0"});
  };
  const Parts signal = read_parts(node, {"i0", fmt::format("i1*{} + i2", step)});
  const Parts in_frames{part_of_frame(signal.real), part_of_frame(signal.imaginary)};
  const Shape bins{shape[0], frames, onesided ? points / 2 + 1 : points};
  const Parts parts = transformed(script, bins, points, factors, "i2", in_frames, false);
  Shape result = bins;
  result.push_back(2);
  return finished(dtype, result, script.text, both(parts, 3));
}

}  // namespace

std::vector<Row> spectral_operators() { return {{"DFT", 17, dft}, {"STFT", 17, stft}}; }

}  // namespace tunesmith::operators_onnx
