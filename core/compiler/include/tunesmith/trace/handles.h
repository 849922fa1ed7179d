// What a schedule's calls take and answer: variables of its trace.
#pragma once

#include <cstdint>
#include <variant>

#include "tunesmith/trace/instruction.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Handles into one schedule (and its clones): random variables of the trace, as the papers call them.
struct BlockRV : TraceVar {};
struct LoopRV : TraceVar {};
struct IntRV : TraceVar {};

/// A number that is either written in the trace or a variable of it.
using IntArg = std::variant<int64_t, IntRV>;

}  // namespace tunesmith
#pragma GCC visibility pop
