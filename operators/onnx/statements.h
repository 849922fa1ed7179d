// Pieces of statements of the workload language.
//
// The axes of a statement's result are i0, i1, ...; those of a reduction r0, r1, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader.h"

namespace tunesmith::operators_onnx {

using Indices = std::vector<std::string>;

/// i0, i1, ...
Indices axis_names(size_t rank, char letter = 'i');
/// "X[i0, i1]"; of a single value "X[0]".
std::string element(std::string_view array, const Indices& at);
/// "X[i0<2, i1<3]", the left side of a statement.
std::string over(std::string_view array, const Shape& shape);
/// One line: over(array, shape) = value.
std::string statement(std::string_view array, const Shape& shape, std::string_view value);
/// "sum(r0<2, r1<3) (value)"; without axes the value alone.
std::string reduction(std::string_view kind, const Indices& axes, const Shape& extents,
                      std::string_view value);

/// The element of an array of shape `from`, broadcast to `to`, at i0, i1, ...
std::string broadcast(std::string_view array, const Shape& from, const Shape& to);
/// The element of an array of this shape at i0, i1, ...
inline std::string here(std::string_view array, const Shape& shape) { return broadcast(array, shape, shape); }
/// The shape to which both are broadcast. Refuses shapes that do not fit.
Shape broadcast_shape(const NodeReader& node, const Shape& a, const Shape& b);

/// The linear position of an index in an array of this shape, and back.
std::string linear(const Indices& at, const Shape& shape);
Indices unravel(const std::string& position, const Shape& shape);

/// A number in the language's syntax. Refuses NaN.
std::string literal(const NodeReader& node, double value);
/// The type with this number in TensorProto.DataType. Refuses types that kernels do not have.
DType type_of_number(const NodeReader& node, int64_t number);
int64_t number_of_type(DType dtype);
/// The same, also for types that kernels do not have: as bytes with a code, without a shape.
TensorType type_of(const NodeReader& node, int64_t number);
/// A value converted to a type: "f32(0.5)".
std::string typed(DType dtype, const std::string& value);
/// Converts `value` from type `from` to type `to`, also from and to bool.
std::string convert(DType from, DType to, const std::string& value);
/// The type of sums of values of this type: f32 for f16 and bf16.
DType wide(DType dtype);
/// Converts a value of type `dtype` to wide(dtype), and back.
std::string to_wide(DType dtype, const std::string& value);
std::string from_wide(DType dtype, const std::string& value);

std::string array(std::string_view kind, size_t number);
inline std::string in(size_t number) { return array("in", number); }
inline std::string out(size_t number) { return array("out", number); }
inline std::string temporary(size_t number) { return array("t", number); }

/// Rounds x to the nearest integer, of two to the even one.
std::string rounded(const std::string& x);

/// Computes `result`, the sum over the axes of `term`, which has type wide(dtype); by way of t0 if that is
/// another type.
std::string summed(DType dtype, const Shape& shape, const Indices& axes, const Shape& extents,
                   const std::string& term, std::string_view result = "out0");

/// A sequence of statements whose intermediate arrays are numbered.
struct Script {
  std::string text;
  size_t temporaries = 0;

  /// Computes an intermediate array; returns its name.
  std::string make(const Shape& shape, std::string_view value) {
    const std::string name = temporary(temporaries++);
    text += statement(name, shape, value);
    return name;
  }
  /// Computes an intermediate array; returns its element at i0, i1, ...
  std::string here(const Shape& shape, std::string_view value) {
    return operators_onnx::here(make(shape, value), shape);
  }
};

/// A computation with one output.
Computation computed(DType dtype, Shape shape, std::string statements);
/// One whose last statement computes `result` as `value`, of type wide(dtype).
Computation finished(DType dtype, const Shape& shape, const std::string& statements, const std::string& value,
                     std::string_view result = "out0");
/// A computation with one output that copies elements of input `input`: out0[i0, ...] = value.
Computation copied(const NodeReader& node, Shape shape, const std::string& value, size_t input = 0);

}  // namespace tunesmith::operators_onnx
