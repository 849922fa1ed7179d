// May the iterations of a loop run in any order, or concurrently?
#pragma once

#include <optional>

#include "analysis/loop_tools.h"

namespace tunesmith {

enum class Concurrency : uint8_t {
  Threads,  // in any order, concurrently: a buffer used by one iteration only is private
  Lanes     // in lockstep: all iterations share memory
};

/// Nothing if no block below `loop` carries a dependence over it: only spatial iterators are bound to the
/// loop, and its iterations write different elements (or, for threads, elements of a private buffer).
/// Dataflow between two blocks below the loop needs no check: every primitive ensures that elements read
/// under a loop were computed in the same iteration or before the loop.
std::optional<Refusal> concurrency_refusal(const Program& program, const Loop& loop, Concurrency concurrency);

/// Nothing if `loop` may have this `kind`: checks concurrency_refusal() and nesting. A vectorized loop must
/// not contain a concurrent loop or the init of a reduction.
std::optional<Refusal> loop_kind_refusal(const Program& program, const Loop& loop, LoopKind kind);

/// Is any loop parallel, vectorized or bound?
bool has_concurrent_loop(const Program& program);

/// The refusal of the first illegal concurrent loop.
std::optional<Refusal> concurrent_loop_refusal(const Program& program);

/// Changes a serial loop to `kind`, or throws ScheduleError.
void set_loop_kind(const Program& program, Loop& loop, LoopKind kind, std::string_view primitive);

}  // namespace tunesmith
