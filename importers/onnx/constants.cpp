#include "constants.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "element_types.h"
#include "proto.h"

namespace tunesmith::onnx_reader {
namespace {

using network::Constant;

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian");

/// The size in bytes of values of this shape, computed before any allocation.
uint64_t bytes_of(const network::Shape& shape, DType dtype) {
  uint64_t bytes = dtype.bytes();
  for (const int64_t extent : shape) {
    if (extent < 0) throw UserError(fmt::format("an extent is {}", extent));
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      throw UserError("it has more elements than any machine has memory");
  }
  return bytes;
}

uint64_t read_number(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError(fmt::format("the {} of its external data, '{}', is not a number of bytes", key, text));
  return value;
}

FileBytes external_bytes(const onnx::TensorProto& tensor, ExternalFiles& files) {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = read_number("offset", entry.value());
    if (entry.key() == "length") length = read_number("length", entry.value());
  }
  return files.bytes(location, offset, length);
}

/// The values of a typed field, each as an element of type To.
template <typename To, typename Values>
std::shared_ptr<std::vector<std::byte>> converted(const Values& values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(values.size()) * sizeof(To));
  std::byte* to = bytes->data();
  for (const auto value : values) {
    const auto element = static_cast<To>(value);
    if (static_cast<decltype(value)>(element) != value)
      throw UserError(fmt::format("the value {} is out of its type's range", value));
    std::memcpy(to, &element, sizeof element);
    to += sizeof element;
  }
  return bytes;
}

std::shared_ptr<std::vector<std::byte>> typed_values(const onnx::TensorProto& tensor, DType dtype) {
  if (dtype == kI32) return converted<int32_t>(tensor.int32_data());
  if (dtype == kU32) return converted<uint32_t>(tensor.uint64_data());
  if (dtype == kI16) return converted<int16_t>(tensor.int32_data());
  if (dtype == kI8) return converted<int8_t>(tensor.int32_data());
  // The bits of a 16-bit float are read as an unsigned number.
  return dtype.bytes() == 2 ? converted<uint16_t>(tensor.int32_data())
                            : converted<uint8_t>(tensor.int32_data());
}

/// The bytes of a typed field; not copied if they have the machine's layout.
FileBytes typed_bytes(const onnx::TensorProto& tensor, DType dtype,
                      const std::shared_ptr<const void>& owner) {
  const auto in_place = [&](const auto& values) -> FileBytes {
    return {std::as_bytes(std::span(values.data(), static_cast<size_t>(values.size()))), owner};
  };
  if (dtype == kF32) return in_place(tensor.float_data());
  if (dtype == kF64) return in_place(tensor.double_data());
  if (dtype == kI64) return in_place(tensor.int64_data());
  if (dtype == kU64) return in_place(tensor.uint64_data());
  const auto values = typed_values(tensor, dtype);
  return {*values, values};
}

FileBytes stored_bytes(const onnx::TensorProto& tensor, DType dtype, const std::shared_ptr<const void>& owner,
                       ExternalFiles& files) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return external_bytes(tensor, files);
  if (tensor.has_raw_data()) return {std::as_bytes(std::span(tensor.raw_data())), owner};
  return typed_bytes(tensor, dtype, owner);
}

void check_count(const FileBytes& stored, uint64_t wanted) {
  if (stored.bytes.size() != wanted)
    throw UserError(fmt::format("its shape takes {} bytes, and there are {}", wanted, stored.bytes.size()));
}

/// Gives values of fewer than 8 bits a byte each. A stored byte holds several, the first in its low bits; a
/// number of a typed field holds one stored byte.
FileBytes unpacked(const FileBytes& stored, const ElementType& type, uint64_t count) {
  const uint64_t per_byte = 8 / static_cast<uint64_t>(type.bits);
  check_count(stored, count / per_byte + (count % per_byte != 0 ? 1 : 0));
  const int values = 1 << type.bits;
  const bool is_signed = type.dtype.is_signed_int();
  auto bytes = std::make_shared<std::vector<std::byte>>(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<uint64_t>(stored.bytes[i / per_byte]);
    const int value =
        static_cast<int>(byte >> (i % per_byte * static_cast<uint64_t>(type.bits))) & (values - 1);
    (*bytes)[i] = static_cast<std::byte>(is_signed && value >= values / 2 ? value - values : value);
  }
  return {*bytes, bytes};
}

}  // namespace

std::shared_ptr<const Constant> read_constant(const onnx::TensorProto& tensor,
                                              const std::shared_ptr<const void>& owner,
                                              ExternalFiles& files) {
  const std::optional<ElementType> type = element_type(tensor.data_type());
  if (!type) throw UserError(refused_element_type(tensor.data_type()));
  if (tensor.has_segment()) throw UserError("values in segments are unsupported");
  network::Shape shape(tensor.dims().begin(), tensor.dims().end());
  const uint64_t wanted = bytes_of(shape, type->dtype);
  // Packed values are read as unsigned; unpacked() gives them their sign.
  FileBytes stored = stored_bytes(tensor, type->bits < 8 ? kU8 : type->dtype, owner, files);
  if (type->bits < 8) stored = unpacked(stored, *type, wanted);
  check_count(stored, wanted);
  if (type->dtype == kBool &&
      std::ranges::any_of(stored.bytes, [](std::byte byte) { return byte > std::byte{1}; }))
    throw UserError("expected 0 or 1 for a bool");
  return std::make_shared<Constant>(
      Constant{type->dtype, std::move(shape), stored.bytes, std::move(stored.owner)});
}

}  // namespace tunesmith::onnx_reader
