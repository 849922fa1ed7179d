// The windows of convolutions and pooling.
#pragma once

#include "reader.h"

namespace tunesmith::operators_onnx {

/// Of each spatial axis.
struct Window {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape begin;  ///< padding before and behind the input
  Shape end;
  Shape output;

  size_t rank() const { return kernel.size(); }
  bool is_padded() const;
  /// Elements between the first and the last that a window reads, both included.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Where window i{offset + axis} begins, in the input as it is (not padded).
  std::string begin_index(size_t axis, size_t offset) const;
  /// The index that window i{offset + axis} reads with r{reduction + axis}, in the input as it is (not
  /// padded).
  std::string index(size_t axis, size_t offset, size_t reduction) const;
};

/// From auto_pad, dilations, pads and strides. `input` has the spatial extents. Where `ceil_mode` holds, a
/// window may reach beyond the padding, but not begin there.
Window read_window(const NodeReader& node, const Shape& input, const Shape& kernel, bool ceil_mode = false);

/// The attribute, of as many values as there are spatial axes; each `otherwise` where it is not there.
Shape spatial_attribute(const NodeReader& node, std::string_view name, size_t count, int64_t otherwise);

/// What a convolution sums: a product of an element of the input and one of the kernel [output channels,
/// channels of a group, ...], at i0, i1, ... Innermost are the channels of a group, which lie together once
/// an image lies with its channels last. Axes of one iteration are left out.
struct ConvolutionTerms {
  std::vector<std::string> axes;
  Shape extents;
  std::vector<std::string> x_at, w_at;
};
/// `group`: the index of the output channel's group; "" where there is one group.
ConvolutionTerms convolution_terms(const Window& window, const Shape& kernel, const std::string& group);

/// Without the first two, batch and channels.
inline Shape spatial_shape(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

}  // namespace tunesmith::operators_onnx
