// How storage_align and storage_swizzle tell lowering what they want: an annotation of the block that writes
// the buffer, because the buffer's final shape is known only once it is placed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

inline constexpr const char* kStorageAlign = "storage_align";
/// With the value 1: the buffer gets a Swizzle.
inline constexpr const char* kStorageSwizzle = "storage_swizzle";

/// The stride of dimension `axis` is `offset` more than a multiple of `factor`.
struct StorageAlignment {
  size_t axis = 0;
  int64_t factor = 1;
  int64_t offset = 0;

  /// "axis 1, factor 32, offset 8"
  std::string str() const;
};

/// What the block's annotation asks for its buffer; nothing when there is none that makes sense.
std::optional<StorageAlignment> storage_alignment(const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
