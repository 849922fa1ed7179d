// Values that no type of kernels has, each in a byte: what their bits mean.
#pragma once

#include <optional>
#include <string>

#include "statements.h"

namespace tunesmith::operators_onnx {

/// Of integers an i8 or a u8, of floats a u8.
DType dtype_of(Code code);
bool is_integer_code(Code code);
/// Of the TensorProto.DataType with this number.
std::optional<TensorType> type_with_code(int64_t number);

/// The value, an f32, of a byte of this code of a float.
std::string decoded(Code code, const std::string& byte);
/// The byte of this code of a float for `value`, an f32, at i0, ... of `shape`; halves to the even one.
/// `saturate`: the largest value in the place of those that are out of range.
std::string encoded(Script& script, const Shape& shape, Code code, const std::string& value, bool saturate);
/// The same of F8E8M0, a power of two, by ONNX's attribute 'round_mode'.
std::string encoded_power(Script& script, const Shape& shape, const std::string& value,
                          const std::string& round_mode, bool saturate);
/// An integer as the code has it: in its range where that is wrapped around, or as its nearest value.
std::string wrapped(Code code, const std::string& integer);
std::string clamped(Code code, const std::string& value);

}  // namespace tunesmith::operators_onnx
