#include "interp/storage.h"

namespace tunesmith::interp {

Storage::Storage(const BufferNode& node) : buffer(&node) {
  const auto count = static_cast<size_t>(node.span());
  if (node.dtype.is_float()) {
    floats.resize(count);
  } else {
    ints.resize(count);
  }
  written.resize(count);
}

void Storage::load_from(const Tensor& tensor) {
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = tensor.get(static_cast<int64_t>(i));
  for (size_t i = 0; i < ints.size(); ++i) ints[i] = tensor.get_int(static_cast<int64_t>(i));
}

void Storage::store_to(Tensor& tensor) const {
  for (size_t i = 0; i < floats.size(); ++i) tensor.set(static_cast<int64_t>(i), floats[i]);
  for (size_t i = 0; i < ints.size(); ++i) tensor.set_int(static_cast<int64_t>(i), ints[i]);
}

Touches& Storage::touches(size_t depth, size_t offset) {
  if (touches_.size() <= depth) touches_.resize(depth + 1);
  if (touches_[depth].empty()) touches_[depth].resize(written.size());
  return touches_[depth][offset];
}

}  // namespace tunesmith::interp
