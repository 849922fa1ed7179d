// Operators whose outputs follow from shapes and constants alone.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

Computation known(std::shared_ptr<const Constant> constant) {
  Computation made;
  made.outputs = {{constant->dtype, constant->shape}};
  made.constants = {std::move(constant)};
  return made;
}

/// A constant of type f32 or f64.
std::shared_ptr<const Constant> floating_constant(DType dtype, Shape shape,
                                                  const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(dtype.bytes()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kF64) std::memcpy(bytes.data() + i * sizeof(double), &values[i], sizeof(double));
    const auto narrow = static_cast<float>(values[i]);
    if (dtype == kF32) std::memcpy(bytes.data() + i * sizeof(float), &narrow, sizeof(float));
  }
  return make_constant(dtype, std::move(shape), std::move(bytes));
}

Computation constant(const NodeReader& node) {
  if (auto value = node.tensor("value")) return known(std::move(value));
  if (node.has_attribute("value_int"))
    return known(make_constant(kI64, {}, std::vector<int64_t>{node.integer("value_int", 0)}));
  if (node.has_attribute("value_float"))
    return known(floating_constant(kF32, {}, {node.number("value_float", 0)}));
  if (const auto values = node.integers("value_ints"))
    return known(make_constant(kI64, {static_cast<int64_t>(values->size())}, *values));
  if (const auto values = node.numbers("value_floats"))
    return known(floating_constant(kF32, {static_cast<int64_t>(values->size())}, *values));
  node.refuse("there is no attribute with numbers");
}

/// From version 15 on, only the extents of axes from `start` to before `end`.
Computation shape_of(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const auto rank = static_cast<int64_t>(from.size());
  const auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = clamped(node.integer("start", 0));
  const int64_t end = std::max(start, clamped(node.integer("end", rank)));
  return known(make_constant(kI64, {end - start}, Shape(from.begin() + start, from.begin() + end)));
}

Computation size_of(const NodeReader& node) {
  return known(make_constant(kI64, {}, std::vector<int64_t>{element_count(node.shape(0))}));
}

Computation constant_of_shape(const NodeReader& node) {
  constexpr int64_t kMaxElements = int64_t{1} << 26;
  const Shape shape = node.integers_of(0, "shape");
  node.refuse_unless(
      std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0 && extent <= kMaxElements; }) &&
          element_count(shape) <= kMaxElements,
      fmt::format("an extent is below 0, or there are more than {} elements", kMaxElements));
  auto value = node.tensor("value");
  if (!value) value = floating_constant(kF32, {1}, {0.0});
  node.refuse_unless(element_count(value->shape) == 1, "attribute 'value' is not a single value");
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < element_count(shape); ++i)
    bytes.insert(bytes.end(), value->bytes.begin(), value->bytes.end());
  return known(make_constant(value->dtype, shape, std::move(bytes)));
}

Computation range(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  const auto count_of = [&](double start, double limit, double delta) {
    node.refuse_unless(delta != 0.0, "'delta' is 0");
    const double count = std::ceil((limit - start) / delta);
    node.refuse_unless(count <= 0x1p26, "it has more than 2^26 elements");
    return static_cast<int64_t>(std::max(count, 0.0));
  };
  if (!dtype.is_float()) {
    const int64_t start = node.integer_of(0, "start");
    const int64_t delta = node.integer_of(2, "delta");
    const int64_t count =
        count_of(static_cast<double>(start), static_cast<double>(node.integer_of(1, "limit")),
                 static_cast<double>(delta));
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(start + i * delta);
    return known(make_constant(dtype, {count}, values));
  }
  node.refuse_unless(dtype == kF32 || dtype == kF64, "expected f32, f64 or integers");
  const auto single = [&](size_t input, std::string_view what) {
    const std::vector<double> values = node.numbers_of(input, what);
    node.refuse_unless(values.size() == 1, fmt::format("'{}' is not a single value", what));
    return values[0];
  };
  const double start = single(0, "start");
  const double delta = single(2, "delta");
  const int64_t count = count_of(start, single(1, "limit"), delta);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(start + static_cast<double>(i) * delta);
  return known(floating_constant(dtype, {count}, values));
}

/// The `count` values of a window function. A periodic window lacks the last point of a symmetric one.
Computation window_of(const NodeReader& node, double (*value)(double turn)) {
  const int64_t count = node.integer_of(0, "size");
  const DType dtype = type_of_number(node, node.integer("output_datatype", 1));
  const int64_t turn = node.flag("periodic", true) ? count : count - 1;
  node.refuse_unless(count >= 1 && turn >= 1 && count <= int64_t{1} << 26, "'size' is out of range");
  node.refuse_unless(dtype == kF32 || dtype == kF64, "expected f32 or f64");
  std::vector<double> values;
  for (int64_t n = 0; n < count; ++n)
    values.push_back(value(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(turn)));
  return known(floating_constant(dtype, {count}, values));
}

double hann(double turn) { return 0.5 - 0.5 * std::cos(turn); }
double hamming(double turn) { return 25.0 / 46 - 21.0 / 46 * std::cos(turn); }
double blackman(double turn) { return 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn); }

Define window(double (*value)(double turn)) {
  return [value](const NodeReader& node) { return window_of(node, value); };
}

Computation eye_like(const NodeReader& node) {
  node.refuse_unless(node.rank(0) == 2, "expected a matrix");
  const DType dtype =
      node.has_attribute("dtype") ? type_of_number(node, node.integer("dtype", 0)) : node.dtype(0);
  const int64_t diagonal = node.integer("k", 0);
  const Shape& shape = node.shape(0);
  const std::string is_on = fmt::format("i1 - i0 == {}", diagonal);
  const std::string value = dtype.is_bool() ? is_on : fmt::format("select({}, {}(1), 0)", is_on, dtype.str());
  return computed(dtype, shape, statement(out(0), shape, value));
}

}  // namespace

std::vector<Row> constant_operators() {
  return {
      {"Constant", 1, constant},
      {"Shape", 1, shape_of, true, false, shape_of_counted},
      {"Size", 1, size_of, true, false, size_of_counted},
      {"ConstantOfShape", 9, constant_of_shape, true},
      {"Range", 11, range},
      {"EyeLike", 9, eye_like},
      {"HannWindow", 17, window(hann)},
      {"HammingWindow", 17, window(hamming)},
      {"BlackmanWindow", 17, window(blackman)},
  };
}

}  // namespace tunesmith::operators_onnx
