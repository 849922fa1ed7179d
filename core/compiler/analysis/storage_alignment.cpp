#include "tunesmith/analysis/storage_alignment.h"

#include <cstdio>

#include <fmt/format.h>

namespace tunesmith {

std::string StorageAlignment::str() const {
  return fmt::format("axis {}, factor {}, offset {}", axis, factor, offset);
}

std::optional<StorageAlignment> storage_alignment(const Block& block) {
  const auto found = block.annotations.find(kStorageAlign);
  if (found == block.annotations.end()) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->second);
  if (text == nullptr) return std::nullopt;
  StorageAlignment wanted;
  long long factor = 0;
  long long offset = 0;
  if (std::sscanf(text->c_str(), "axis %zu, factor %lld, offset %lld", &wanted.axis, &factor, &offset) != 3)
    return std::nullopt;
  if (factor < 1 || factor > (1LL << 20) || offset < 0 || offset >= factor) return std::nullopt;
  wanted.factor = factor;
  wanted.offset = offset;
  return wanted;
}

}  // namespace tunesmith
