// Reductions over some axes of one input.
#pragma once

#include "statements.h"

namespace tunesmith::operators_onnx {

/// The reduced and the kept axes of a shape, with their names in statements.
struct Reduced {
  Shape output;     ///< of the result; kept reduced axes have extent 1
  Indices read;     ///< indices of the input in a statement over `output`: i... and r...
  Indices axes;     ///< r0, r1, ...
  Shape extents;    ///< extents of `axes`
  Indices of_kept;  ///< indices of `output` with kept axes in a statement over the input
  int64_t count() const { return element_count(extents); }
  std::string reduction(std::string_view kind, std::string_view value) const {
    return operators_onnx::reduction(kind, axes, extents, value);
  }
};

Reduced reduce(const Shape& shape, const std::vector<size_t>& axes, bool keep);

/// Statements that compute `result`, the softmax of rows along `axes` or its logarithm: t0 is the maximum of
/// each row, t1 the exponentials of x - t0, t2 their sum.
std::string softmax_of_rows(const NodeReader& node, const std::vector<size_t>& axes, bool logarithm,
                            const std::string& result);

/// The axes from `first` on.
std::vector<size_t> axes_from(size_t first, size_t rank);

}  // namespace tunesmith::operators_onnx
