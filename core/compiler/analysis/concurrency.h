// May the iterations of a loop run in any order, or concurrently?
#pragma once

#include <optional>

#include "analysis/loop_tools.h"

namespace tunesmith {

enum class Concurrency : uint8_t {
  Threads,  // in any order, concurrently: a buffer used by one iteration only is private
  Lanes     // in lockstep: all iterations share memory
};

/// Nothing when no block below `loop` carries a dependence over it:
/// only spatial iterators are bound to the loop, and its iterations
/// write different elements (or, for threads, elements of a private
/// buffer). Values that flow between two blocks below the loop need
/// no check: every primitive ensures that what a block reads under a
/// loop was computed in the same iteration of the loop, or before it.
std::optional<Refusal> concurrency_refusal(const Program& program, const Loop& loop, Concurrency concurrency);

/// Nothing when `loop` may have this `kind` in its place: checks the above and
/// nesting. A vectorized loop contains no concurrent loop and no init of a reduction.
std::optional<Refusal> loop_kind_refusal(const Program& program, const Loop& loop, LoopKind kind);

/// Is any loop parallel, vectorized or bound?
bool has_concurrent_loop(const Program& program);

/// The first concurrent loop that is illegal in its place, with the place.
std::optional<Refusal> concurrent_loop_refusal(const Program& program);

/// Changes a serial loop to `kind`, or throws ScheduleError.
void set_loop_kind(const Program& program, Loop& loop, LoopKind kind, std::string_view primitive);

}  // namespace tunesmith
