// Softmax, LogSoftmax and Hardmax.
#include <fmt/format.h>

#include "reduced.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

/// Before version 13 all axes from `axis` on form one row, since then `axis` alone.
std::vector<size_t> row_axes(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_float(), "expected floating values");
  const size_t rank = node.rank(0);
  if (node.version() >= 13) return {node.axis(node.integer("axis", -1), rank)};
  const int64_t given = node.integer("axis", 1);
  if (given == static_cast<int64_t>(rank)) node.refuse("'axis' is behind the last: there are no rows");
  return axes_from(node.axis(given, rank), rank);
}

/// t0 is the maximum of each row, t1 the exponentials of x - t0, t2 their sum.
Computation define_softmax(const NodeReader& node, bool logarithm) {
  const DType dtype = node.dtype(0);
  const DType type = wide(dtype);
  const Shape& shape = node.shape(0);
  const Reduced reduced = reduce(shape, row_axes(node), true);
  const std::string x = convert(dtype, type, broadcast(in(0), shape, shape));
  const std::string largest = element(temporary(0), reduced.of_kept);
  const std::string sum = element(temporary(2), reduced.of_kept);
  std::string text = statement(temporary(0), reduced.output,
                               reduced.reduction("max", convert(dtype, type, element(in(0), reduced.read))));
  text += statement(temporary(1), shape, fmt::format("exp({} - {})", x, largest));
  text +=
      statement(temporary(2), reduced.output, reduced.reduction("sum", element(temporary(1), reduced.read)));
  const std::string value = logarithm ? fmt::format("{} - {} - log({})", x, largest, sum)
                                      : fmt::format("{} / {}", broadcast(temporary(1), shape, shape), sum);
  return computed(dtype, shape, text + statement(out(0), shape, convert(type, dtype, value)));
}

/// 1 at the first maximum of each row, 0 elsewhere.
Computation hardmax(const NodeReader& node) {
  const std::vector<size_t> axes = row_axes(node);
  node.refuse_unless(axes.size() == 1, "rows of several axes are not taken");
  const Shape& shape = node.shape(0);
  const Reduced reduced = reduce(shape, axes, true);
  const auto of = [&](size_t number) { return element(temporary(number), axis_names(shape.size())); };
  std::string text =
      statement(temporary(0), reduced.output, reduced.reduction("max", element(in(0), reduced.read)));
  text +=
      statement(temporary(1), reduced.output,
                reduced.reduction("min", fmt::format("select({} == {}, r0, {})", element(in(0), reduced.read),
                                                     of(0), shape[axes[0]])));
  text += statement(out(0), shape,
                    fmt::format("select({} == i{}, {}(1), 0)", element(temporary(1), reduced.of_kept),
                                axes[0], node.dtype(0).str()));
  return computed(node.dtype(0), shape, text);
}

}  // namespace

std::vector<Row> softmax_operators() {
  return {
      {"Softmax", 1, [](const NodeReader& node) { return define_softmax(node, false); }},
      {"LogSoftmax", 1, [](const NodeReader& node) { return define_softmax(node, true); }},
      {"Hardmax", 1, hardmax},
  };
}

}  // namespace tunesmith::operators_onnx
