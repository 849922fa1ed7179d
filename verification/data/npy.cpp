#include "tunesmith/verification/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"

namespace tunesmith {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;
constexpr uint64_t kMaxElements = uint64_t{1} << 40;

struct NamedType {
  std::string_view name;
  DType type;
};
constexpr std::array<NamedType, 14> kTypes{{{"<f8", kF64},
                                            {"<f4", kF32},
                                            {"<f2", kF16},
                                            {"|V2", kBF16},
                                            {"<V2", kBF16},
                                            {"<i8", kI64},
                                            {"<i4", kI32},
                                            {"<i2", kI16},
                                            {"|i1", kI8},
                                            {"<u8", kU64},
                                            {"<u4", kU32},
                                            {"<u2", kU16},
                                            {"|u1", kU8},
                                            {"|b1", kBool}}};

/// The value after 'key': in the header, up to the comma or bracket that ends it.
std::string value_of(const std::string& header, const std::string& key, char end) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) throw UserError(fmt::format("its header has no '{}'", key));
  const size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  const size_t stop = header.find(end, begin);
  if (begin == std::string::npos || stop == std::string::npos) throw UserError("its header is truncated");
  return header.substr(begin, stop - begin);
}

std::vector<int64_t> shape_in(const std::string& text) {
  std::vector<int64_t> shape;
  uint64_t elements = 1;
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc() || (extent > 0 && elements > kMaxElements / static_cast<uint64_t>(extent)))
      throw UserError("its shape is too large");
    elements *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    shape.push_back(extent);
    at = static_cast<size_t>(end - text.data());
  }
  return shape;
}

/// Reorders elements stored with the first axis innermost, as NumPy writes transposed arrays.
void make_row_major(Tensor& tensor) {
  const std::vector<std::byte> columns = tensor.bytes;
  const auto size = static_cast<size_t>(tensor.dtype.bytes());
  std::vector<int64_t> index(tensor.shape.size(), 0);
  for (size_t at = 0; at + size <= columns.size(); at += size) {
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d) place = place * tensor.shape[d] + index[d];
    std::memcpy(tensor.bytes.data() + static_cast<size_t>(place) * size, columns.data() + at, size);
    for (size_t d = 0; d < index.size() && ++index[d] == tensor.shape[d]; ++d) index[d] = 0;
  }
}

Tensor tensor_in(const std::string& bytes) {
  if (bytes.size() < 12 || bytes.compare(0, kMagic.size(), kMagic) != 0) throw UserError("not a NumPy file");
  const bool long_header = bytes[6] > 1;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, long_header ? 4 : 2);
  const size_t begin = long_header ? 12 : 10;
  if (bytes.size() < begin + length) throw UserError("truncated");
  const std::string header = bytes.substr(begin, length);
  std::string name = value_of(header, "descr", ',');
  std::erase(name, '\'');
  const bool column_major = value_of(header, "fortran_order", ',').starts_with("True");
  for (const NamedType& known : kTypes) {
    if (known.name != name) continue;
    Tensor tensor{known.type, shape_in(value_of(header, "shape", ')')), {}};
    const auto wanted = static_cast<size_t>(tensor.elements() * known.type.bytes());
    if (bytes.size() != begin + length + wanted)
      throw UserError(fmt::format("it has {} bytes of elements, expected {} for its shape",
                                  bytes.size() - begin - length, wanted));
    const auto* const data = reinterpret_cast<const std::byte*>(bytes.data() + begin + length);
    tensor.bytes.assign(data, data + wanted);
    if (column_major) make_row_major(tensor);
    return tensor;
  }
  throw UserError(fmt::format("unsupported type '{}'", name));
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_whole_file(path);
  try {
    return tensor_in(bytes);
  } catch (const UserError& error) {
    throw UserError(SourceLocation{path.string()}, error.what());
  }
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  std::string_view name;
  for (const NamedType& known : kTypes)
    if (name.empty() && known.type == tensor.dtype) name = known.name;
  check_invariant(!name.empty(), "every type of elements has a name in NumPy");
  const std::string shape =
      fmt::format("{}{}", fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", name, shape);
  const size_t begin = kMagic.size() + 4;
  header.append(kAlignment - 1 - (begin + header.size()) % kAlignment, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string bytes(kMagic);
  bytes.append("\x01\x00", 2);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  write_whole_file(path, bytes);
}

}  // namespace tunesmith
