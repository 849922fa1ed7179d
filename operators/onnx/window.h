// The windows of convolutions and pooling.
#pragma once

#include <functional>

#include "statements.h"

namespace tunesmith::operators_onnx {

/// One value for each spatial axis.
struct Window {
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape begin;  ///< padding before and behind the input
  Shape end;
  Shape output;

  size_t rank() const { return kernel.size(); }
  bool is_padded() const;
  /// The elements from the first to the last one that a window reads.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// [batch, channels, ...] of the output.
  Shape result(int64_t batch, int64_t channels) const;
  /// Where window i{offset + axis} begins in the unpadded input.
  std::string begin_index(size_t axis, size_t offset) const;
  /// The index that window i{offset + axis} reads for r{reduction + axis}, in the unpadded input.
  std::string index(size_t axis, size_t offset, size_t reduction) const;
};

/// Reads auto_pad, dilations, pads and strides. `input` has the spatial extents. With `ceil_mode` a window
/// may end, but not begin, behind the padding.
Window read_window(const NodeReader& node, const Shape& input, const Shape& kernel, bool ceil_mode = false);

/// Refuses a kernel other than attribute 'kernel_shape' says.
void check_kernel_shape(const NodeReader& node, const Shape& kernel);
/// Checks the shapes and types of a convolution's input, kernel and bias.
void check_convolution(const NodeReader& node, int64_t groups, bool is_transposed);

/// An attribute with one value for each of `count` axes; all are `otherwise` without it.
Shape spatial_attribute(const NodeReader& node, std::string_view name, size_t count, int64_t otherwise);

/// The terms of a convolution: an element of the input times one of the kernel [output channels, channels of
/// a group, ...], at i0, i1, ... A group's channels are innermost, since they are contiguous in an image with
/// channels last. Axes of extent 1 are left out.
struct ConvolutionTerms {
  std::vector<std::string> axes;
  Shape extents;
  std::vector<std::string> x_at, w_at;
};
/// `group`: the index of the output channel's group; "" without groups.
ConvolutionTerms convolution_terms(const Window& window, const Shape& kernel, const std::string& group);

/// The input, an array named `source`, with `outside` around it: the shape, and the value at i0, i1, ...
std::pair<Shape, std::string> padded(const Window& window, const Shape& input, const std::string& source,
                                     const std::string& outside);

/// Computes `result`, the sums of `statements_of(array)` plus the bias, if there is one.
Computation with_bias(const NodeReader& node, const Shape& shape, std::string_view result,
                      const std::function<std::string(const std::string& array)>& statements_of);

/// The shape without the first two axes, batch and channels.
inline Shape spatial_shape(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

}  // namespace tunesmith::operators_onnx
