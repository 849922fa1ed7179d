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

Define softmax(bool logarithm) {
  return [logarithm](const NodeReader& node) {
    const std::vector<size_t> axes = row_axes(node);
    return computed(node.dtype(0), node.shape(0), softmax_of_rows(node, axes, logarithm, out(0)));
  };
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

std::string softmax_of_rows(const NodeReader& node, const std::vector<size_t>& axes, bool logarithm,
                            const std::string& result) {
  const DType dtype = node.dtype(0);
  const Shape& shape = node.shape(0);
  const Reduced reduced = reduce(shape, axes, true);
  const std::string x = to_wide(dtype, here(in(0), shape));
  const std::string largest = element(temporary(0), reduced.of_kept);
  const std::string sum = element(temporary(2), reduced.of_kept);
  const std::string value = logarithm ? fmt::format("{} - {} - log({})", x, largest, sum)
                                      : fmt::format("{} / {}", here(temporary(1), shape), sum);
  return statement(temporary(0), reduced.output,
                   reduced.reduction("max", to_wide(dtype, element(in(0), reduced.read)))) +
         statement(temporary(1), shape, fmt::format("exp({} - {})", x, largest)) +
         statement(temporary(2), reduced.output,
                   reduced.reduction("sum", element(temporary(1), reduced.read))) +
         statement(result, shape, from_wide(dtype, value));
}

std::vector<Row> softmax_operators() {
  return {
      {"Softmax", 1, softmax(false)},
      {"LogSoftmax", 1, softmax(true)},
      {"Hardmax", 1, hardmax},
  };
}

}  // namespace tunesmith::operators_onnx
