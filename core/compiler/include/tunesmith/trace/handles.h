// The argument and result types of a schedule's functions: variables of its trace.
#pragma once

#include <cstdint>
#include <variant>

#include "tunesmith/trace/instruction.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Handles of one schedule and its clones, called random variables in the papers.
struct BlockRV : TraceVar {};
struct LoopRV : TraceVar {};
struct IntRV : TraceVar {};

/// A number: a literal or a variable of the trace.
using IntArg = std::variant<int64_t, IntRV>;

}  // namespace tunesmith
#pragma GCC visibility pop
