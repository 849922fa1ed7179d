// In which type a program computes: what its time is compared with is a rate of operations in that type.
#pragma once

#include <string_view>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The type that most of a program's operations are of: that of the wider factor of the products that it
/// sums, before it is widened (u8 where an i32 sums products of u8), else that of the values. Thread-safe.
DType computed_type(const Program& program);
/// What operations of this type are counted in: "GFLOP/s", or "GOP/s" where they are of integers.
std::string_view operations_unit(DType type);

}  // namespace tunesmith
