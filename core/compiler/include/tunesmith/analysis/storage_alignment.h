// How storage_align and storage_swizzle pass their request to lowering: as an annotation of
// the block that writes the buffer, since the buffer's shape is final only after it is placed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

inline constexpr const char* kStorageAlign = "storage_align";
/// With the value 1, the buffer gets a Swizzle.
inline constexpr const char* kStorageSwizzle = "storage_swizzle";

/// The stride of dimension `axis` is `offset` more than a multiple of `factor`.
struct StorageAlignment {
  size_t axis = 0;
  int64_t factor = 1;
  int64_t offset = 0;

  /// "axis 1, factor 32, offset 8"
  std::string str() const;
};

/// The alignment that the block's annotation requests for its buffer; nothing if there is no valid one.
std::optional<StorageAlignment> storage_alignment(const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
