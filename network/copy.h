// Nodes that copy tensors, or parts of them.
#pragma once

#include <string>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// The statement that copies: "out0[i0<2, i1<3] = in0[i0, i1]", or for a part of in0 that begins at `begin`
/// along an axis, "in0[i0, i1 + 4]".
std::string copy_statement(const Shape& shape, size_t axis = 0, int64_t begin = 0);

/// Copies `from` to `to`.
Node copy_node(std::string name, TensorIndex from, TensorIndex to);
/// Copies the elements [begin, begin + extent) of `whole` along an axis to `part`.
Node slice_node(std::string name, TensorIndex whole, TensorIndex part, int64_t axis, int64_t begin,
                int64_t extent);

}  // namespace tunesmith::network
