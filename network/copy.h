// Copies of tensors as nodes.
#pragma once

#include <string>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// "out0[i0<2, i1<3] = in0[i0, i1]", as an operator says that nothing changes.
std::string copy_statement(const Shape& shape);

/// Its output is its input. Lives as long as the process.
const Operator& copy_operator();

}  // namespace tunesmith::network
