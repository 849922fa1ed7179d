#include "window.h"

#include <algorithm>

#include <fmt/format.h>

namespace tunesmith::operators_onnx {
namespace {

/// Pads such that there is one window for each `stride` elements.
void pad_same(Window& window, const Shape& input, bool more_at_end) {
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t count = (input[i] + window.strides[i] - 1) / window.strides[i];
    const int64_t total = std::max<int64_t>((count - 1) * window.strides[i] + window.reach(i) - input[i], 0);
    window.begin[i] = more_at_end ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

int64_t window_count(const Window& window, size_t axis, int64_t input, bool ceil_mode) {
  const int64_t stride = window.strides[axis];
  // With ceil_mode a window, even the first, may end behind the padded input.
  const int64_t behind = ceil_mode ? stride - 1 : 0;
  const int64_t room = input + window.begin[axis] + window.end[axis] - window.reach(axis) + behind;
  if (room < 0) return 0;
  int64_t count = room / stride + 1;
  if (ceil_mode && (count - 1) * stride >= input + window.begin[axis]) --count;
  return count;
}

}  // namespace

bool Window::is_padded() const {
  const auto is_positive = [](int64_t padding) { return padding > 0; };
  return std::ranges::any_of(begin, is_positive) || std::ranges::any_of(end, is_positive);
}

Shape Window::result(int64_t batch, int64_t channels) const {
  Shape shape{batch, channels};
  shape.insert(shape.end(), output.begin(), output.end());
  return shape;
}

std::string Window::begin_index(size_t axis, size_t offset) const {
  const std::string text = fmt::format("i{}", offset + axis);
  return strides[axis] == 1 ? text : fmt::format("{}*{}", text, strides[axis]);
}

std::string Window::index(size_t axis, size_t offset, size_t reduction) const {
  std::string text = begin_index(axis, offset) + fmt::format(" + r{}", reduction + axis);
  if (dilations[axis] != 1) text += fmt::format("*{}", dilations[axis]);
  return text;
}

Shape spatial_attribute(const NodeReader& node, std::string_view name, size_t count, int64_t otherwise) {
  const Shape values = node.integers(name).value_or(Shape(count, otherwise));
  node.refuse_unless(values.size() == count,
                     fmt::format("attribute '{}' has {} values, expected {}", name, values.size(), count));
  return values;
}

Window read_window(const NodeReader& node, const Shape& input, const Shape& kernel, bool ceil_mode) {
  const size_t rank = input.size();
  const auto all_at_least = [](const Shape& values, int64_t least) {
    return std::ranges::all_of(values, [least](int64_t value) { return value >= least; });
  };
  Window window{kernel,
                spatial_attribute(node, "strides", rank, 1),
                spatial_attribute(node, "dilations", rank, 1),
                Shape(rank, 0),
                Shape(rank, 0),
                {}};
  node.refuse_unless(kernel.size() == rank, "the kernel has another number of axes than the input");
  node.refuse_unless(
      all_at_least(kernel, 1) && all_at_least(window.strides, 1) && all_at_least(window.dilations, 1),
      "a kernel, stride or dilation is below 1");
  const Shape pads = spatial_attribute(node, "pads", 2 * rank, 0);
  const std::string automatic = node.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  if (automatic == "NOTSET") {
    window.begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
    window.end.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
    node.refuse_unless(all_at_least(pads, 0), "negative padding is not taken");
  } else if (automatic != "VALID") {
    pad_same(window, input, automatic == "SAME_UPPER");
  }
  for (size_t i = 0; i < rank; ++i) {
    window.output.push_back(window_count(window, i, input[i], ceil_mode));
    node.refuse_unless(window.output[i] > 0, "the kernel is larger than the padded input");
  }
  return window;
}

void check_kernel_shape(const NodeReader& node, const Shape& kernel) {
  if (const auto given = node.integers("kernel_shape"))
    node.refuse_unless(*given == spatial_shape(kernel), "attribute 'kernel_shape' is not the kernel's shape");
}

void check_convolution(const NodeReader& node, int64_t groups, bool is_transposed) {
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(1);
  node.refuse_unless(x.size() >= 3 && w.size() == x.size(),
                     "expected [batch, channels, ...] and a kernel of as many axes");
  node.refuse_unless(node.dtype(0).is_float() && node.dtype(0) == node.dtype(1),
                     "expected floating values of one type");
  node.refuse_unless(groups >= 1 && x[1] % groups == 0 &&
                         (is_transposed ? w[0] == x[1] : w[0] % groups == 0 && w[1] == x[1] / groups),
                     "the channels of input and kernel do not fit the groups");
  check_kernel_shape(node, w);
  if (node.has(2))
    node.refuse_unless(
        node.shape(2) == Shape{is_transposed ? w[1] * groups : w[0]} && node.dtype(2) == node.dtype(0),
        "the bias is not one value for each output channel");
}

std::pair<Shape, std::string> padded(const Window& window, const Shape& input, const std::string& source,
                                     const std::string& outside) {
  Shape shape(input.begin(), input.begin() + 2);
  Indices at{"i0", "i1"};
  for (size_t i = 0; i < window.rank(); ++i) {
    shape.push_back(input[2 + i] + window.begin[i] + window.end[i]);
    at.push_back(fmt::format("i{} - {}", 2 + i, window.begin[i]));
  }
  return {shape, fmt::format("inside({}, {})", element(source, at), outside)};
}

Computation with_bias(const NodeReader& node, const Shape& shape, std::string_view result,
                      const std::function<std::string(const std::string& array)>& statements_of) {
  const DType dtype = node.dtype(0);
  if (!node.has(2) && wide(dtype) == dtype) return computed(dtype, shape, statements_of(std::string(result)));
  std::string value = here(temporary(1), shape);
  if (node.has(2)) value += " + " + to_wide(dtype, element(in(2), {"i1"}));
  return finished(dtype, shape, statements_of(temporary(1)), value, result);
}

ConvolutionTerms convolution_terms(const Window& window, const Shape& kernel, const std::string& group) {
  ConvolutionTerms terms;
  for (size_t i = 0; i < window.rank(); ++i) {
    if (kernel[2 + i] == 1) continue;
    terms.axes.push_back(fmt::format("r{}", 1 + i));
    terms.extents.push_back(kernel[2 + i]);
  }
  if (kernel[1] > 1 || terms.axes.empty()) {
    terms.axes.emplace_back("r0");
    terms.extents.push_back(kernel[1]);
  }
  const std::string channel = terms.axes.back() == "r0" ? "r0" : "0";
  terms.x_at = {"i0", group.empty() ? channel : fmt::format("{} * {} + {}", group, kernel[1], channel)};
  terms.w_at = {"i1", channel};
  for (size_t i = 0; i < window.rank(); ++i) {
    terms.x_at.push_back(kernel[2 + i] == 1 ? window.begin_index(i, 2) : window.index(i, 2, 1));
    terms.w_at.push_back(kernel[2 + i] == 1 ? "0" : fmt::format("r{}", 1 + i));
  }
  return terms;
}

}  // namespace tunesmith::operators_onnx
