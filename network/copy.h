// Copies of tensors as nodes.
#pragma once

#include <string>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// "out0[i0<2, i1<3] = in0[i0, i1]", as an operator says that nothing changes; of a part of in0 that begins
/// at `begin` along an axis, "in0[i0, i1 + 4]".
std::string copy_statement(const Shape& shape, size_t axis = 0, int64_t begin = 0);

/// Its output is its input. Lives as long as the process.
const Operator& copy_operator();

}  // namespace tunesmith::network
