#include "tunesmith/ir/buffer.h"

#include <utility>

#include "tunesmith/ir/expr.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

BufferNode::BufferNode(std::string buffer_name, DType type, std::vector<int64_t> full_shape,
                       std::string memory_scope)
    : name(std::move(buffer_name)),
      dtype(type),
      shape(std::move(full_shape)),
      scope(std::move(memory_scope)) {
  check_invariant(dtype.lanes == 1 && !dtype.is_index(), "a buffer's elements are scalars, and data");
  for (const int64_t extent : shape) check_invariant(extent > 0, "a buffer's extents are positive");
}

BufferNode::~BufferNode() = default;

int64_t BufferNode::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

int64_t BufferNode::span() const {
  if (strides.empty()) return elements();
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return last + 1;
}

std::vector<int64_t> BufferNode::effective_strides() const {
  if (!strides.empty()) return strides;
  std::vector<int64_t> row_major(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) row_major[d - 1] = row_major[d] * shape[d];
  return row_major;
}

Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape, std::string scope,
                   bool constant, std::vector<int64_t> strides, Swizzle swizzle) {
  check_invariant(strides.empty() || strides.size() == shape.size(),
                  "a buffer has a stride for each dimension");
  boost::intrusive_ptr<BufferNode> node(
      new BufferNode(std::move(name), dtype, std::move(shape), std::move(scope)));
  node->constant = constant;
  node->strides = std::move(strides);
  node->swizzle = swizzle;
  return node;
}

Buffer with_extents(const Buffer& buffer, std::vector<Expr> extents) {
  if (extents.empty() && buffer->extents.empty()) return buffer;
  check_invariant(extents.empty() || extents.size() == buffer->shape.size(),
                  "a buffer has an extent for each dimension");
  boost::intrusive_ptr<BufferNode> node(
      new BufferNode(buffer->name, buffer->dtype, buffer->shape, buffer->scope));
  node->constant = buffer->constant;
  node->strides = buffer->strides;
  node->swizzle = buffer->swizzle;
  node->extents = std::move(extents);
  return node;
}

}  // namespace tunesmith
