// ONNX's numbers for the types of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tunesmith/network/network.h>

namespace tunesmith::onnx_reader {

struct ElementType {
  DType dtype;
  network::Code code = network::Code::None;
  int bits = 8;  ///< of a value in a file, for types with a code: a byte has several
};

/// Nothing for a type that networks lack.
std::optional<ElementType> element_type(int32_t number);

/// ONNX's name: "uint16", "float8e4m3fn"; "type 99" for an unknown number.
std::string element_type_name(int32_t number);

/// "the element type uint16 is not taken; taken are f16, ...".
std::string refused_element_type(int32_t number);

}  // namespace tunesmith::onnx_reader
