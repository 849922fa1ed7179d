#include "interp/storage.h"

namespace tunesmith::interp {

Storage::Storage(const BufferNode& node) : buffer(&node), strides(node.effective_strides()) {
  const auto count = static_cast<size_t>(node.span());
  if (node.dtype.is_float()) {
    floats.resize(count);
  } else {
    ints.resize(count);
  }
  written.resize(count);
}

void Storage::load_from(const Tensor& tensor) {
  visit_elements([&](int64_t element, size_t at) {
    if (floats.empty())
      ints[at] = tensor.get_int(element);
    else
      floats[at] = tensor.get(element);
  });
}

void Storage::limit(const std::vector<int64_t>& extents, bool is_packed) {
  if (extents == buffer->shape) return;
  missing.resize(written.size());
  std::vector<int64_t> existing;
  visit_elements([&](int64_t element, size_t at) {
    const int64_t position = element;
    for (size_t d = extents.size(); d-- > 0; element /= buffer->shape[d])
      missing[at] = missing[at] || element % buffer->shape[d] >= extents[d];
    if (!missing[at]) existing.push_back(position);
  });
  if (!is_packed) return;
  for (size_t at = 0; at < missing.size(); ++at) missing[at] = at >= existing.size();
  for (size_t d = extents.size(), step = 1; d-- > 0; step *= static_cast<size_t>(extents[d]))
    strides[d] = static_cast<int64_t>(step);
  packed = std::move(existing);
}

void Storage::store_to(Tensor& tensor) const {
  visit_elements([&](int64_t element, size_t at) {
    if (!exists(at)) return;
    if (floats.empty())
      tensor.set_int(element, ints[at]);
    else
      tensor.set(element, floats[at]);
  });
}

Touches& Storage::touches(size_t depth, size_t offset) {
  if (touches_.size() <= depth) touches_.resize(depth + 1);
  if (touches_[depth].empty()) touches_[depth].resize(written.size());
  return touches_[depth][offset];
}

}  // namespace tunesmith::interp
