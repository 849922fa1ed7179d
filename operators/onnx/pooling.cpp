// Pooling: X is [batch, channels, ...].
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph.h"
#include "statements.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

Shape spatial_of(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(shape.size() >= 3, "expected [batch, channels, ...]");
  return spatial_shape(shape);
}

Window pooling_window(const NodeReader& node) {
  const auto kernel = node.integers("kernel_shape");
  if (!kernel) node.refuse("attribute 'kernel_shape' is missing");
  return read_window(node, spatial_of(node), *kernel, node.flag("ceil_mode", false));
}

Shape output_shape(const NodeReader& node, const Window& window) {
  return window.result(node.shape(0)[0], node.shape(0)[1]);
}

/// Does a window read beyond the input on this axis?
bool leaves(const Window& window, size_t axis, int64_t extent) {
  return window.begin[axis] > 0 ||
         (window.output[axis] - 1) * window.strides[axis] + window.reach(axis) - window.begin[axis] > extent;
}

/// The element that a window reads; `otherwise` outside the input.
std::string window_element(const NodeReader& node, const Window& window, const std::string& otherwise) {
  Indices at{"i0", "i1"};
  bool can_leave = false;
  for (size_t i = 0; i < window.rank(); ++i) {
    at.push_back(window.index(i, 2, 0));
    if (window.begin[i] > 0) at.back() += fmt::format(" - {}", window.begin[i]);
    can_leave = can_leave || leaves(window, i, node.shape(0)[2 + i]);
  }
  const std::string value = element(in(0), at);
  return can_leave ? fmt::format("inside({}, {})", value, otherwise) : value;
}

/// The position in the whole input of the first largest element of each window. NaN counts as largest.
std::string largest_places(const NodeReader& node, const Window& window, const Shape& shape,
                           const std::string& value, bool by_columns) {
  const Shape& from = node.shape(0);
  const std::string largest = here(out(0), shape);
  Indices at{"i0", "i1"};
  for (size_t i = 0; i < window.rank(); ++i) {
    at.push_back(window.index(i, 2, 0));
    if (window.begin[i] > 0) at.back() = fmt::format("({} - {})", at.back(), window.begin[i]);
  }
  // The minimum finds the first position. Padding may equal the maximum, so positions must lie inside.
  std::string is_chosen = node.dtype(0).is_float() ? fmt::format("({0} == {1} or {0} != {0})", value, largest)
                                                   : fmt::format("{} == {}", value, largest);
  for (size_t i = 0; i < window.rank(); ++i)
    if (leaves(window, i, from[2 + i]))
      is_chosen += fmt::format(" and {0} >= 0 and {0} < {1}", at[2 + i], from[2 + i]);
  const std::string none = fmt::format("{}", element_count(from));
  std::string position = fmt::format("(i0 * {} + i1)", from[1]);
  for (size_t i = 0; i < window.rank(); ++i) {
    const size_t axis = by_columns ? at.size() - 1 - i : 2 + i;
    position = fmt::format("({} * {} + {})", position, from[axis], at[axis]);
  }
  return statement(out(1), shape,
                   reduction("min", axis_names(window.rank(), 'r'), window.kernel,
                             fmt::format("select({}, i64({}), {})", is_chosen, position, none)));
}

Computation max_pool(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const bool by_columns = node.flag("storage_order", false);
  const Window window = pooling_window(node);
  const Shape shape = output_shape(node, window);
  const std::string value = window_element(node, window, fmt::format("lowest({})", dtype.str()));
  Computation made =
      copied(node, shape, reduction("max", axis_names(window.rank(), 'r'), window.kernel, value));
  if (node.output_count() < 2) return made;
  made.outputs.push_back({kI64, shape});
  if (node.wants(1)) made.compute += largest_places(node, window, shape, value, by_columns);
  return made;
}

/// Puts elements into zeros, at the positions that MaxPool returned.
bool max_unpool(const NodeReader& node, network::Expansion& to) {
  const Shape& shape = node.shape(0);
  const auto kernel = node.integers("kernel_shape");
  node.refuse_unless(
      kernel && kernel->size() + 2 == shape.size() && node.shape(1) == shape && node.dtype(1) == kI64,
      "expected attribute 'kernel_shape', and a place for each element");
  const size_t rank = kernel->size();
  const auto strides = node.integers("strides").value_or(std::vector<int64_t>(rank, 1));
  const auto pads = node.integers("pads").value_or(std::vector<int64_t>(2 * rank, 0));
  node.refuse_unless(strides.size() == rank && pads.size() == 2 * rank,
                     "'strides' or 'pads' are not of each axis");
  Shape smallest{shape[0], shape[1]};
  for (size_t i = 0; i < rank; ++i)
    smallest.push_back((shape[2 + i] - 1) * strides[i] - pads[i] - pads[rank + i] + (*kernel)[i]);
  const Shape full = node.has(2) ? node.integers_of(2, "output_shape") : smallest;
  node.refuse_unless(full.size() == shape.size() && full[0] == shape[0] && full[1] == shape[1],
                     "'output_shape' has other batches or channels");
  Graph graph(to);
  const TensorIndex zeros =
      graph.add("Expand", {graph.number(node.dtype(0), 0), graph.integers({element_count(smallest)})});
  const TensorIndex flat =
      graph.add("ScatterElements", {zeros, graph.reshape(node.input(1), {element_count(shape)}),
                                    graph.reshape(node.input(0), {element_count(shape)})});
  TensorIndex result = graph.reshape(flat, smallest);
  if (full != smallest) {
    std::vector<int64_t> padding(2 * full.size(), 0);
    for (size_t i = 0; i < full.size(); ++i) padding[full.size() + i] = full[i] - smallest[i];
    result = graph.add("Pad", {result, graph.integers(padding)});
  }
  to.give(0, result);
  return true;
}

/// Makes t1, t2, ...: the number of elements that count in each window of an axis, where it varies.
std::string count_elements(const Window& window, const Shape& input, bool padding_counts, size_t axis,
                           DType dtype) {
  // The statement has one axis, i0, and one of the reduction, r0.
  const Window alone{{window.kernel[axis]}, {window.strides[axis]}, {window.dilations[axis]}, {}, {}, {}};
  const int64_t first = padding_counts ? 0 : window.begin[axis];
  const int64_t last = window.begin[axis] + input[axis] + (padding_counts ? window.end[axis] : 0);
  return statement(temporary(1 + axis), {window.output[axis]},
                   reduction("sum", {"r0"}, {window.kernel[axis]},
                             fmt::format("select({0} >= {1} and {0} < {2}, {3}(1), 0)", alone.index(0, 0, 0),
                                         first, last, dtype.str())));
}

/// Is there a window that reads nothing of the input on this axis?
bool misses(const Window& window, size_t axis, int64_t extent) {
  for (int64_t o = 0; o < window.output[axis]; ++o) {
    bool reads = false;
    for (int64_t r = 0; r < window.kernel[axis] && !reads; ++r) {
      const int64_t at = o * window.strides[axis] - window.begin[axis] + r * window.dilations[axis];
      reads = at >= 0 && at < extent;
    }
    if (!reads) return true;
  }
  return false;
}

Computation average_pool(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype.is_float(), "expected floating values");
  const bool padding_counts = node.flag("count_include_pad", false);
  const Window window = pooling_window(node);
  const Shape input = spatial_of(node);
  const Shape shape = output_shape(node, window);
  std::string text = statement(temporary(0), shape,
                               reduction("sum", axis_names(window.rank(), 'r'), window.kernel,
                                         to_wide(dtype, window_element(node, window, "0"))));
  int64_t all = 1;
  std::string divisor;
  bool may_be_none = false;
  for (size_t i = 0; i < window.rank(); ++i) {
    may_be_none = may_be_none || misses(window, i, input[i]);
    const bool is_full = padding_counts ? (window.output[i] - 1) * window.strides[i] + window.reach(i) <=
                                              window.begin[i] + input[i] + window.end[i]
                                        : !leaves(window, i, input[i]);
    if (is_full) {
      all *= window.kernel[i];
      continue;
    }
    text += count_elements(window, input, padding_counts, i, wide(dtype));
    divisor += fmt::format(" * {}[i{}]", temporary(1 + i), 2 + i);
  }
  divisor = fmt::format("{}{}", all, divisor);
  // The mean of no elements is 0, as in onnxruntime.
  if (may_be_none) divisor = fmt::format("max(1, {})", divisor);
  const std::string value = fmt::format("{} / ({})", here(temporary(0), shape), divisor);
  return finished(dtype, shape, text, value);
}

/// The p-th root of the sum of the p-th powers.
std::string root_of(int64_t p, const std::string& sum) {
  if (p == 1) return sum;
  return p == 2 ? fmt::format("sqrt({})", sum)
                : fmt::format("pow({}, {})", sum, 1.0 / static_cast<double>(p));
}

/// The p-th power of x, which is in brackets or an element.
std::string power_of(int64_t p, const std::string& x) {
  if (p == 1) return fmt::format("abs({})", x);
  return p == 2 ? fmt::format("{0} * {0}", x) : fmt::format("pow(abs({}), {})", x, p);
}

int64_t read_norm(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_float(), "expected floating values");
  const int64_t p = node.integer("p", 2);
  node.refuse_unless(p >= 1, "attribute 'p' is below 1");
  return p;
}

Computation norm_of(const NodeReader& node, const Shape& shape, int64_t p, const std::string& sum) {
  const DType dtype = node.dtype(0);
  Script script;
  const std::string value = root_of(p, script.here(shape, sum));
  return finished(dtype, shape, script.text, value);
}

Computation lp_pool(const NodeReader& node) {
  const int64_t p = read_norm(node);
  const Window window = pooling_window(node);
  const std::string x = to_wide(node.dtype(0), window_element(node, window, "0"));
  return norm_of(node, output_shape(node, window), p,
                 reduction("sum", axis_names(window.rank(), 'r'), window.kernel, power_of(p, x)));
}

/// Reduces all spatial axes at once.
std::string globally(const NodeReader& node, std::string_view kind, DType type) {
  const Shape extents = spatial_of(node);
  Indices at{"i0", "i1"};
  const Indices axes = axis_names(extents.size(), 'r');
  at.insert(at.end(), axes.begin(), axes.end());
  return reduction(kind, axes, extents, convert(node.dtype(0), type, element(in(0), at)));
}

Shape global_shape(const NodeReader& node) {
  Shape shape(node.rank(0), 1);
  shape[0] = node.shape(0)[0];
  shape[1] = node.shape(0)[1];
  return shape;
}

Computation global_max_pool(const NodeReader& node) {
  const std::string value = globally(node, "max", node.dtype(0));
  return copied(node, global_shape(node), value);
}

Computation global_average_pool(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype.is_float(), "expected floating values");
  const std::string sum = globally(node, "sum", wide(dtype));
  const Shape shape = global_shape(node);
  const std::string mean = fmt::format("{} / {}", here(temporary(0), shape), element_count(spatial_of(node)));
  return finished(dtype, shape, statement(temporary(0), shape, sum), mean);
}

Computation global_lp_pool(const NodeReader& node) {
  const int64_t p = read_norm(node);
  const Shape extents = spatial_of(node);
  const Indices axes = axis_names(extents.size(), 'r');
  Indices at{"i0", "i1"};
  at.insert(at.end(), axes.begin(), axes.end());
  const std::string x = to_wide(node.dtype(0), element(in(0), at));
  return norm_of(node, global_shape(node), p, reduction("sum", axes, extents, power_of(p, x)));
}

}  // namespace

std::vector<Row> pooling_operators() {
  return {
      {"MaxPool", 1, max_pool},
      {"MaxUnpool", 9, never_defined, false, false, max_unpool},
      {"AveragePool", 1, average_pool},
      {"LpPool", 2, lp_pool},
      {"GlobalMaxPool", 1, global_max_pool},
      {"GlobalAveragePool", 1, global_average_pool},
      {"GlobalLpPool", 2, global_lp_pool},
  };
}

}  // namespace tunesmith::operators_onnx
