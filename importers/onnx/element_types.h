// ONNX's numbers for the types of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tunesmith/ir/dtype.h>

namespace tunesmith::onnx_reader {

/// Nothing for a type that networks do not have.
std::optional<DType> element_type(int32_t number);

inline constexpr int32_t kUint4 = 21, kInt4 = 22;

/// Two values lie in a byte: weights are unpacked.
inline bool is_packed_type(int32_t number) { return number == kUint4 || number == kInt4; }

/// As ONNX calls it: "uint16", "float8e4m3fn"; "type 99" for a number that it does not have.
std::string element_type_name(int32_t number);

/// "the element type uint16 is not taken; taken are f16, ...".
std::string refused_element_type(int32_t number);

}  // namespace tunesmith::onnx_reader
