// May the iterations of a loop run in any order, or at once?
#pragma once

#include <optional>

#include "analysis/loop_tools.h"

namespace tunesmith {

enum class Concurrency : uint8_t {
  Threads,  // any order, at once: what one iteration alone uses is its own
  Lanes     // in lockstep: all iterations see the same memory
};

/// Nothing when no block below `loop` carries a dependence over it: the loop binds spatial iterators only,
/// and its iterations write different elements (or, for threads, elements of a buffer that nothing outside
/// the iteration uses).
///
/// Values that flow between two blocks below the loop need no check: every primitive keeps to it that what a
/// block reads under a loop was computed in the same iteration of the loop, or before the loop.
std::optional<Refusal> concurrency_refusal(const Program& program, const Loop& loop, Concurrency concurrency);

/// Nothing when `loop`, where it stands, may be of `kind`: the above, and what may stand inside what.
/// Vectorized loops have no concurrent loop and no reduction's init inside.
std::optional<Refusal> loop_kind_refusal(const Program& program, const Loop& loop, LoopKind kind);

/// Is any loop parallel, vectorized or bound?
bool has_concurrent_loop(const Program& program);

/// The first such loop that is not legal where it stands, with its place.
std::optional<Refusal> concurrent_loop_refusal(const Program& program);

/// Makes a serial loop one of `kind`, or throws ScheduleError.
void set_loop_kind(const Program& program, Loop& loop, LoopKind kind, std::string_view primitive);

}  // namespace tunesmith
