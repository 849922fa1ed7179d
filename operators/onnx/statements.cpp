#include "statements.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::operators_onnx {

Indices axis_names(size_t rank, char letter) {
  Indices names;
  for (size_t i = 0; i < rank; ++i) names.push_back(fmt::format("{}{}", letter, i));
  return names;
}

std::string element(std::string_view array, const Indices& at) {
  return at.empty() ? fmt::format("{}[0]", array) : fmt::format("{}[{}]", array, fmt::join(at, ", "));
}

std::string over(std::string_view array, const Shape& shape) {
  if (shape.empty()) return fmt::format("{}[i0<1]", array);
  Indices axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back(fmt::format("i{}<{}", i, shape[i]));
  return element(array, axes);
}

std::string statement(std::string_view array, const Shape& shape, std::string_view value) {
  return fmt::format("{} = {}\n", over(array, shape), value);
}

std::string reduction(std::string_view kind, const Indices& axes, const Shape& extents,
                      std::string_view value) {
  if (axes.empty()) return std::string(value);
  Indices with_extents;
  for (size_t i = 0; i < axes.size(); ++i) with_extents.push_back(fmt::format("{}<{}", axes[i], extents[i]));
  return fmt::format("{}({}) ({})", kind, fmt::join(with_extents, ", "), value);
}

std::string broadcast(std::string_view array, const Shape& from, const Shape& to) {
  Indices at;
  const size_t skipped = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    at.push_back(from[i] == 1 && to[skipped + i] != 1 ? "0" : fmt::format("i{}", skipped + i));
  return element(array, at);
}

Shape broadcast_shape(const NodeReader& node, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    const size_t from_end = result.size() - i;
    const int64_t x = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const int64_t y = from_end <= b.size() ? b[b.size() - from_end] : 1;
    if (x != y && x != 1 && y != 1)
      node.refuse(
          fmt::format("shapes [{}] and [{}] cannot be broadcast", fmt::join(a, ", "), fmt::join(b, ", ")));
    result[i] = x == 1 ? y : x;
  }
  return result;
}

std::string linear(const Indices& at, const Shape& shape) {
  std::string text;
  int64_t stride = element_count(shape);
  for (size_t i = 0; i < at.size(); ++i) {
    stride /= shape[i];
    if (shape[i] == 1) continue;
    text += (text.empty() ? "" : " + ") + (stride == 1 ? at[i] : fmt::format("{}*{}", at[i], stride));
  }
  return text.empty() ? "0" : text;
}

Indices unravel(const std::string& position, const Shape& shape) {
  Indices at;
  int64_t stride = element_count(shape);
  const int64_t count = stride;
  for (const int64_t extent : shape) {
    const bool outermost = stride == count;
    stride /= extent;
    if (extent == 1) {
      at.emplace_back("0");
      continue;
    }
    std::string index =
        stride == 1 ? fmt::format("({})", position) : fmt::format("({}) // {}", position, stride);
    if (!outermost) index += fmt::format(" % {}", extent);
    at.push_back(index);
  }
  return at;
}

std::string literal(const NodeReader& node, double value) {
  node.refuse_unless(!std::isnan(value), "a number of it is NaN, which cannot be written in a workload");
  if (std::isinf(value)) return value < 0 ? "(-inf)" : "inf";
  const std::string text = fmt::format("{}", std::abs(value));
  return std::signbit(value) ? "(-" + text + ")" : text;
}

std::string typed(DType dtype, const std::string& value) { return fmt::format("{}({})", dtype.str(), value); }

std::string convert(DType from, DType to, const std::string& value) {
  if (from == to) return value;
  if (to.is_bool()) return fmt::format("({} != 0)", value);
  if (from.is_bool()) return fmt::format("select({}, {}(1), 0)", value, to.str());
  return typed(to, value);
}

DType wide(DType dtype) { return dtype.is_float() && dtype.bits < 32 ? kF32 : dtype; }

std::string to_wide(DType dtype, const std::string& value) { return convert(dtype, wide(dtype), value); }
std::string from_wide(DType dtype, const std::string& value) { return convert(wide(dtype), dtype, value); }

std::string rounded(const std::string& x) { return fmt::format("round_even({})", x); }

std::string array(std::string_view kind, size_t number) { return fmt::format("{}{}", kind, number); }

std::string summed(DType dtype, const Shape& shape, const Indices& axes, const Shape& extents,
                   const std::string& term, std::string_view result) {
  const std::string sum = reduction("sum", axes, extents, term);
  if (wide(dtype) == dtype) return statement(result, shape, sum);
  return statement(temporary(0), shape, sum) +
         statement(result, shape, from_wide(dtype, here(temporary(0), shape)));
}

Computation computed(DType dtype, Shape shape, std::string statements) {
  return {{{dtype, std::move(shape)}}, {}, std::move(statements)};
}

Computation finished(DType dtype, const Shape& shape, const std::string& statements, const std::string& value,
                     std::string_view result) {
  return computed(dtype, shape, statements + statement(result, shape, from_wide(dtype, value)));
}

Computation copied(const NodeReader& node, Shape shape, const std::string& value, size_t input) {
  std::string text = statement(out(0), shape, value);
  return computed(node.dtype(input), std::move(shape), std::move(text));
}

}  // namespace tunesmith::operators_onnx
