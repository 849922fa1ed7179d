// The type in which a program computes; its time is compared with the peak in that type.
#pragma once

#include <string_view>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The type of most of a program's operations: for summed products, that of the wider factor
/// before it is widened (u8 if an i32 sums products of u8), else that of the values. Thread-safe.
DType computed_type(const Program& program);
/// The unit of operations in this type: "GFLOP/s", or "GOP/s" for integers.
std::string_view operations_unit(DType type);

}  // namespace tunesmith
