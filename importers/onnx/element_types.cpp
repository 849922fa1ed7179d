#include "element_types.h"

#include <array>

#include <fmt/format.h>

namespace tunesmith::onnx_reader {
namespace {

struct ElementType {
  const char* name;
  std::optional<DType> dtype = std::nullopt;
};

/// By ONNX's number; those of newer versions than the parser's, too.
const std::array<ElementType, 26>& element_types() {
  static const std::array<ElementType, 26> kTypes = {{
      {"undefined"},      {"float", kF32},     {"uint8", kU8},   {"int8", kI8},      {"uint16", kU16},
      {"int16", kI16},    {"int32", kI32},     {"int64", kI64},  {"string"},         {"bool", kBool},
      {"float16", kF16},  {"double", kF64},    {"uint32", kU32}, {"uint64", kU64},   {"complex64"},
      {"complex128"},     {"bfloat16", kBF16}, {"float8e4m3fn"}, {"float8e4m3fnuz"}, {"float8e5m2"},
      {"float8e5m2fnuz"}, {"uint4"},           {"int4"},         {"float4e2m1"},     {"float8e8m0"},
      {"uint2"},
  }};
  return kTypes;
}

bool is_known(int32_t number) { return number >= 0 && static_cast<size_t>(number) < element_types().size(); }

}  // namespace

std::optional<DType> element_type(int32_t number) {
  return is_known(number) ? element_types()[static_cast<size_t>(number)].dtype : std::nullopt;
}

std::string element_type_name(int32_t number) {
  return is_known(number) ? element_types()[static_cast<size_t>(number)].name
                          : fmt::format("type {}", number);
}

std::string refused_element_type(int32_t number) {
  return fmt::format(
      "the element type {} is not taken; taken are float16, bfloat16, float, double, int8 to int64, uint8 to "
      "uint64, and bool",
      element_type_name(number));
}

}  // namespace tunesmith::onnx_reader
