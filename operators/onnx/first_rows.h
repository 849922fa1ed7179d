// What of a tensor is read at all.
#pragma once

#include "graph.h"

namespace tunesmith::operators_onnx {

/// The number of first rows, along the first axis, of a replaced node's output that others read: they may
/// pass through operators that keep rows apart, up to a Slice. Nothing if all rows may be read.
std::optional<int64_t> first_rows_read(const network::Expansion& of, TensorIndex output);

}  // namespace tunesmith::operators_onnx
