// Length of loops after the compiler unrolls them.
#pragma once

#include <cstdint>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// Is it a call of a tensor intrinsic?
bool is_call(const Loop& loop);

/// Does the statement contain a barrier?
bool has_barrier(const Stmt& stmt);

/// Limit on stores and calls of a serial loop that the compiler may
/// unroll: more cost seconds of compile time and too many registers.
constexpr int64_t kMaxSteps = 256;

/// Stores and calls of `stmt` after unrolling. Statements that wait for other threads do not count.
int64_t steps_of(const Stmt& stmt);

}  // namespace tunesmith::cuda
