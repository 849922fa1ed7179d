#include "element_types.h"

#include <array>

#include <fmt/format.h>

namespace tunesmith::onnx_reader {
namespace {

using network::Code;

struct NamedType {
  const char* name;
  std::optional<ElementType> type = std::nullopt;
};

constexpr ElementType plain(DType dtype) { return {dtype}; }

/// By ONNX's number, including types newer than the parser.
constexpr std::array<NamedType, 27> kTypes = {{
    {"undefined"},
    {"float", plain(kF32)},
    {"uint8", plain(kU8)},
    {"int8", plain(kI8)},
    {"uint16", plain(kU16)},
    {"int16", plain(kI16)},
    {"int32", plain(kI32)},
    {"int64", plain(kI64)},
    {"string"},
    {"bool", plain(kBool)},
    {"float16", plain(kF16)},
    {"double", plain(kF64)},
    {"uint32", plain(kU32)},
    {"uint64", plain(kU64)},
    {"complex64"},
    {"complex128"},
    {"bfloat16", plain(kBF16)},
    {"float8e4m3fn", ElementType{kU8, Code::F8E4M3Fn}},
    {"float8e4m3fnuz", ElementType{kU8, Code::F8E4M3FnUz}},
    {"float8e5m2", ElementType{kU8, Code::F8E5M2}},
    {"float8e5m2fnuz", ElementType{kU8, Code::F8E5M2FnUz}},
    {"uint4", ElementType{kU8, Code::U4, 4}},
    {"int4", ElementType{kI8, Code::I4, 4}},
    {"float4e2m1", ElementType{kU8, Code::F4E2M1, 4}},
    {"float8e8m0", ElementType{kU8, Code::F8E8M0}},
    {"uint2", ElementType{kU8, Code::U2, 2}},
    {"int2", ElementType{kI8, Code::I2, 2}},
}};

bool is_known(int32_t number) { return number >= 0 && static_cast<size_t>(number) < kTypes.size(); }

}  // namespace

std::optional<ElementType> element_type(int32_t number) {
  return is_known(number) ? kTypes[static_cast<size_t>(number)].type : std::nullopt;
}

std::string element_type_name(int32_t number) {
  return is_known(number) ? kTypes[static_cast<size_t>(number)].name : fmt::format("type {}", number);
}

std::string refused_element_type(int32_t number) {
  return fmt::format(
      "the element type {} is unsupported; supported are float4e2m1 to double, int2 to int64, uint2 to "
      "uint64, and bool",
      element_type_name(number));
}

}  // namespace tunesmith::onnx_reader
