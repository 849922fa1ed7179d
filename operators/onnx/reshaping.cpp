// Operators that give the elements another shape or order.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "counted.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Keeps elements in order. Unchanged axes at both ends keep their names, so that consumers can be analysed
/// through the copy.
Computation as_shape(const NodeReader& node, Shape shape) {
  const Shape& from = node.shape(0);
  node.refuse_unless(element_count(from) == element_count(shape),
                     fmt::format("[{}] has another number of elements than [{}]", fmt::join(from, ", "),
                                 fmt::join(shape, ", ")));
  if (element_count(shape) == 0) return computed(node.dtype(0), shape, "");
  size_t first = 0;
  while (first < from.size() && first < shape.size() && from[first] == shape[first]) ++first;
  size_t last = 0;
  while (last + first < from.size() && last + first < shape.size() &&
         from[from.size() - 1 - last] == shape[shape.size() - 1 - last])
    ++last;
  const Indices names = axis_names(shape.size());
  const auto middle = [&](const auto& whole) {
    return std::vector(whole.begin() + static_cast<int64_t>(first), whole.end() - static_cast<int64_t>(last));
  };
  Indices at(names.begin(), names.begin() + static_cast<int64_t>(first));
  for (const std::string& index : unravel(linear(middle(names), middle(shape)), middle(from)))
    at.push_back(index);
  at.insert(at.end(), names.end() - static_cast<int64_t>(last), names.end());
  return copied(node, shape, element(in(0), at));
}

/// A dimension of -1 follows from the others.
Computation reshape(const NodeReader& node) {
  const bool zero_is_zero = node.flag("allowzero", false);
  Shape shape = node.integers_of(1, "shape");
  int64_t known = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      node.refuse_unless(i < node.rank(0), "a dimension of 0 stands behind the input's axes");
      shape[i] = node.shape(0)[i];
    }
    node.refuse_unless(shape[i] >= -1, "a dimension is below -1");
    if (shape[i] != -1) known *= shape[i];
  }
  const auto open = std::ranges::count(shape, -1);
  node.refuse_unless(open <= 1, "more than one dimension is -1");
  if (open == 1) {
    const int64_t count = element_count(node.shape(0));
    node.refuse_unless(known > 0 && count % known == 0, "the dimension of -1 has no value");
    *std::ranges::find(shape, -1) = count / known;
  }
  return as_shape(node, std::move(shape));
}

Computation flatten(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const int64_t given = node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(from.size());
  node.refuse_unless(given >= -rank && given <= rank, "attribute 'axis' is out of range");
  const int64_t split = given < 0 ? given + rank : given;
  return as_shape(node, {element_count(Shape(from.begin(), from.begin() + split)),
                         element_count(Shape(from.begin() + split, from.end()))});
}

/// The axes are an attribute before version 13, and an input since.
std::optional<std::vector<int64_t>> given_axes(const NodeReader& node) {
  if (node.version() < 13) return node.integers("axes");
  return node.has(1) ? std::optional(node.integers_of(1, "axes")) : std::nullopt;
}

Computation squeeze(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const auto given = given_axes(node);
  std::vector<size_t> removed = given ? node.axes(given, from.size()) : std::vector<size_t>();
  Shape shape;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool is_removed = given ? std::ranges::find(removed, i) != removed.end() : from[i] == 1;
    node.refuse_unless(!is_removed || from[i] == 1, fmt::format("axis {} has an extent other than 1", i));
    if (!is_removed) shape.push_back(from[i]);
  }
  return as_shape(node, std::move(shape));
}

Computation unsqueeze(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const auto given = given_axes(node);
  node.refuse_unless(given.has_value(), "'axes' is missing");
  const size_t rank = from.size() + given->size();
  const std::vector<size_t> added = node.axes(given, rank);
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(std::ranges::find(added, i) != added.end() ? 1 : from[next++]);
  return as_shape(node, std::move(shape));
}

Computation transpose(const NodeReader& node) {
  const Shape& from = node.shape(0);
  std::vector<int64_t> order(from.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.integers("perm").value_or(order);
  node.refuse_unless(order.size() == from.size(),
                     "attribute 'perm' has another number of axes than the input");
  const std::vector<size_t> axes = node.axes(order, from.size());
  Shape shape;
  Indices at(from.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    shape.push_back(from[axes[i]]);
    at[axes[i]] = fmt::format("i{}", i);
  }
  return copied(node, shape, element(in(0), at));
}

Computation expand(const NodeReader& node) {
  const Shape shape = broadcast_shape(node, node.shape(0), node.integers_of(1, "shape"));
  return copied(node, shape, broadcast(in(0), node.shape(0), shape));
}

Computation tile(const NodeReader& node) {
  const Shape& from = node.shape(0);
  const std::vector<int64_t> repeats = node.integers_of(1, "repeats");
  node.refuse_unless(repeats.size() == from.size(), "'repeats' has another number of axes than the input");
  Shape shape;
  Indices at;
  for (size_t i = 0; i < from.size(); ++i) {
    node.refuse_unless(repeats[i] >= 0, "'repeats' has a negative value");
    shape.push_back(from[i] * repeats[i]);
    at.push_back(repeats[i] == 1 ? fmt::format("i{}", i) : fmt::format("i{} % {}", i, from[i]));
  }
  return copied(node, shape, element(in(0), at));
}

/// Returns the block's size after checking it, and that the input is [batch, channels, rows, columns].
int64_t block_size(const NodeReader& node) {
  const int64_t block = node.integer("blocksize", 0);
  node.refuse_unless(block >= 1, "attribute 'blocksize' is below 1");
  node.refuse_unless(node.rank(0) == 4, "expected [batch, channels, rows, columns]");
  return block;
}

Computation depth_to_space(const NodeReader& node) {
  const int64_t block = block_size(node);
  const Shape& from = node.shape(0);
  node.refuse_unless(from[1] % (block * block) == 0, "the channels are no multiple of the block's elements");
  const Shape shape{from[0], from[1] / (block * block), from[2] * block, from[3] * block};
  const std::string in_block = fmt::format("i2 % {0} * {0} + i3 % {0}", block);
  const std::string channel = node.choice("mode", {"DCR", "CRD"}) == "CRD"
                                  ? fmt::format("i1 * {} + {}", block * block, in_block)
                                  : fmt::format("({}) * {} + i1", in_block, shape[1]);
  return copied(
      node, shape,
      element(in(0), {"i0", channel, fmt::format("i2 // {}", block), fmt::format("i3 // {}", block)}));
}

Computation space_to_depth(const NodeReader& node) {
  const int64_t block = block_size(node);
  const Shape& from = node.shape(0);
  node.refuse_unless(from[2] % block == 0 && from[3] % block == 0,
                     "rows or columns are no multiple of the block");
  const Shape shape{from[0], from[1] * block * block, from[2] / block, from[3] / block};
  const bool channels_first = node.version() >= 28 && node.choice("mode", {"DCR", "CRD"}) == "CRD";
  const std::string in_block =
      channels_first ? fmt::format("i1 % {}", block * block) : fmt::format("i1 // {}", from[1]);
  const std::string channel =
      channels_first ? fmt::format("i1 // {}", block * block) : fmt::format("i1 % {}", from[1]);
  return copied(node, shape,
                element(in(0), {"i0", channel, fmt::format("i2*{0} + {1} // {0}", block, in_block),
                                fmt::format("i3*{0} + {1} % {0}", block, in_block)}));
}

}  // namespace

std::vector<Row> reshaping_operators() {
  return {
      {"Reshape", 5, reshape, true, false, reshape_of_counted},
      {"Flatten", 1, flatten, true},
      {"Squeeze", 1, squeeze, true},
      {"Unsqueeze", 1, unsqueeze, true},
      {"Transpose", 1, transpose, true},
      {"Expand", 8, expand, true},
      {"Tile", 6, tile, true},
      {"DepthToSpace", 1, depth_to_space},
      {"SpaceToDepth", 1, space_to_depth},
  };
}

}  // namespace tunesmith::operators_onnx
