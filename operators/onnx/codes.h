// Types of ONNX that kernels do not have: their values are bytes, which this decodes and encodes.
#pragma once

#include <optional>
#include <string>

#include "statements.h"

namespace tunesmith::operators_onnx {

/// The type of the bytes: i8 or u8 for integers, u8 for floats.
DType dtype_of(Code code);
bool is_integer_code(Code code);
/// The type with this number in TensorProto.DataType.
std::optional<TensorType> type_with_code(int64_t number);

/// The f32 value of a byte with this code of floats.
std::string decoded(Code code, const std::string& byte);
/// The byte that encodes the f32 `value` at i0, ... of `shape`, rounded to nearest even. `saturate`: values
/// out of range become the largest finite one.
std::string encoded(Script& script, const Shape& shape, Code code, const std::string& value, bool saturate);
/// The same for F8E8M0, a power of two, rounded as ONNX's attribute 'round_mode' says.
std::string encoded_power(Script& script, const Shape& shape, const std::string& value,
                          const std::string& round_mode, bool saturate);
/// Brings an integer into the code's range: by wrapping around, or to the nearest value.
std::string wrapped(Code code, const std::string& integer);
std::string clamped(Code code, const std::string& value);

}  // namespace tunesmith::operators_onnx
