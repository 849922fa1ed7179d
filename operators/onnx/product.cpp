// Products of matrices.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

DType operand_type(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1), "its operands are of different types");
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  return dtype;
}

/// The product of two elements, in the type of the sum.
std::string multiplied(DType dtype, const std::string& a, const std::string& b) {
  return to_wide(dtype, a) + " * " + to_wide(dtype, b);
}

/// An operand's element: batch indices broadcast to `batch`, then those in `last`.
std::string batched_operand(size_t input, const Shape& shape, const Shape& batch, const Indices& last) {
  Indices at;
  const size_t own = shape.size() - last.size();
  for (size_t i = 0; i < own; ++i) {
    const size_t axis = batch.size() - own + i;
    at.push_back(shape[i] == 1 && batch[axis] != 1 ? "0" : fmt::format("i{}", axis));
  }
  at.insert(at.end(), last.begin(), last.end());
  return element(in(input), at);
}

Computation mat_mul(const NodeReader& node) {
  const DType dtype = operand_type(node);
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  node.refuse_unless(!a.empty() && !b.empty(), "a single value is not taken");
  const bool has_rows = a.size() > 1;
  const bool has_columns = b.size() > 1;
  const int64_t terms = a.back();
  node.refuse_unless(terms == (has_columns ? b[b.size() - 2] : b[0]),
                     "the columns of the first operand are not the rows of the second");
  Shape shape = broadcast_shape(node, has_rows ? Shape(a.begin(), a.end() - 2) : Shape(),
                                has_columns ? Shape(b.begin(), b.end() - 2) : Shape());
  const Shape batch = shape;
  const std::string row = fmt::format("i{}", batch.size());
  const std::string column = fmt::format("i{}", batch.size() + (has_rows ? 1 : 0));
  if (has_rows) shape.push_back(a[a.size() - 2]);
  if (has_columns) shape.push_back(b.back());
  const std::string left = batched_operand(0, a, batch, has_rows ? Indices{row, "r0"} : Indices{"r0"});
  const std::string right = batched_operand(1, b, batch, has_columns ? Indices{"r0", column} : Indices{"r0"});
  return computed(dtype, shape, summed(dtype, shape, {"r0"}, {terms}, multiplied(dtype, left, right)));
}

/// alpha * t0 + beta * the third input, in the type of the sum.
std::string scaled(const NodeReader& node, const Shape& shape, double alpha, double beta) {
  const DType dtype = node.dtype(0);
  std::string value = here(temporary(0), shape);
  if (alpha != 1.0) value = literal(node, alpha) + " * " + value;
  if (node.has(2) && beta != 0.0) {
    node.refuse_unless(node.dtype(2) == dtype, "the third input is of another type");
    node.refuse_unless(broadcast_shape(node, shape, node.shape(2)) == shape,
                       "the third input does not broadcast to the product's shape");
    std::string added = to_wide(dtype, broadcast(in(2), node.shape(2), shape));
    if (beta != 1.0) added = literal(node, beta) + " * " + added;
    value += " + " + added;
  }
  return value;
}

Computation gemm(const NodeReader& node, std::string_view result) {
  const DType dtype = operand_type(node);
  // FusedGemm's version counts in another domain.
  if (node.op() == "Gemm" && node.version() < 7)
    node.ignore("broadcast");  // a third input that needs no broadcast is accepted anyway
  const double alpha = node.number("alpha", 1.0);
  const double beta = node.number("beta", 1.0);
  const bool a_transposed = node.flag("transA", false);
  const bool b_transposed = node.flag("transB", false);
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  node.refuse_unless(a.size() == 2 && b.size() == 2, "expected two matrices");
  node.refuse_unless(dtype.is_float() || (alpha == 1.0 && beta == 1.0),
                     "integers are taken with alpha and beta of 1 only");
  const int64_t terms = a[a_transposed ? 0 : 1];
  node.refuse_unless(terms == b[b_transposed ? 1 : 0],
                     "the columns of the first operand are not the rows of the second");
  const Shape shape{a[a_transposed ? 1 : 0], b[b_transposed ? 0 : 1]};
  const std::string left = element(in(0), a_transposed ? Indices{"r0", "i0"} : Indices{"i0", "r0"});
  const std::string right = element(in(1), b_transposed ? Indices{"i1", "r0"} : Indices{"r0", "i1"});
  const std::string term = multiplied(dtype, left, right);
  if (alpha == 1.0 && !(node.has(2) && beta != 0.0))
    return computed(dtype, shape, summed(dtype, shape, {"r0"}, {terms}, term, result));
  return finished(dtype, shape, statement(temporary(0), shape, reduction("sum", {"r0"}, {terms}, term)),
                  scaled(node, shape, alpha, beta), result);
}

/// alpha times the product of two matrices; each may be transposed.
Computation fused_mat_mul(const NodeReader& node) {
  const DType dtype = operand_type(node);
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  const bool a_transposed = node.flag("transA", false), b_transposed = node.flag("transB", false);
  node.refuse_unless(!node.flag("transBatchA", false) && !node.flag("transBatchB", false),
                     "attributes 'transBatchA' and 'transBatchB' are not taken");
  node.refuse_unless(a.size() >= 2 && b.size() >= 2 && dtype.is_float(),
                     "expected matrices of floating values");
  const auto extent = [](const Shape& shape, bool first, bool transposed) {
    return shape[shape.size() - (first == transposed ? 1 : 2)];
  };
  const int64_t terms = extent(a, false, a_transposed);
  node.refuse_unless(terms == extent(b, true, b_transposed),
                     "the columns of the first operand are not the rows of the second");
  const Shape batch = broadcast_shape(node, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  Shape shape = batch;
  shape.push_back(extent(a, true, a_transposed));
  shape.push_back(extent(b, false, b_transposed));
  const std::string row = fmt::format("i{}", batch.size()), column = fmt::format("i{}", batch.size() + 1);
  const std::string left =
      batched_operand(0, a, batch, a_transposed ? Indices{"r0", row} : Indices{row, "r0"});
  const std::string right =
      batched_operand(1, b, batch, b_transposed ? Indices{column, "r0"} : Indices{"r0", column});
  Script script;
  const std::string sum =
      script.here(shape, reduction("sum", {"r0"}, {terms}, multiplied(dtype, left, right)));
  const std::string value = fmt::format("{} * {}", literal(node, node.number("alpha", 1.0)), sum);
  return finished(dtype, shape, script.text, value);
}

}  // namespace

std::vector<Row> product_operators() {
  return {{"MatMul", 1, mat_mul},
          {"Gemm", 6, [](const NodeReader& node) { return gemm(node, out(0)); }},
          {"com.microsoft.FusedGemm", 1, with_activation(gemm)},
          {"com.microsoft.FusedMatMul", 1, fused_mat_mul}};
}

}  // namespace tunesmith::operators_onnx
