// How long loops become that the compiler writes out by itself.
#pragma once

#include <cstdint>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// Is it a call of a tensor intrinsic?
bool is_call(const Loop& loop);

/// Do threads wait for one another at the statement, or inside of it?
bool has_barrier(const Stmt& stmt);

/// Stores and calls that the compiler may write out of a serial loop by itself: of more, it takes seconds,
/// and registers that there are not.
constexpr int64_t kMaxSteps = 256;

/// Stores and calls of `stmt` as far as they are written out. What waits for other threads is not.
int64_t steps_of(const Stmt& stmt);

}  // namespace tunesmith::cuda
