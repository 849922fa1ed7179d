// Collective operations of the lanes of a warp or the threads of a warpgroup:
// each thread leaves its operand and waits; the last one does the work for all.
#pragma once

#include <utility>

#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {

constexpr unsigned kAllLanes = ~0u;

void begin_block_collectives();

/// Called when a thread returns: lanes of its warp that wait for it continue; one of them does the work.
void thread_left_warp(const Thread& thread);

/// The running lane arrives at `what` in `line` with its operand. Returns true for the last
/// of the lanes in `mask` that have not returned; `lanes` then lists them, and they wait
/// for release_lanes(). Ends the process when lanes of a warp meet different instructions.
bool arrive_in_warp(unsigned mask, const char* what, int line, void* operand, unsigned* lanes);
void release_lanes(unsigned lanes);

/// The same for the 128 threads of a warpgroup, all of which must arrive.
bool arrive_in_warpgroup(const char* what, int line, void* operand);
void release_warpgroup();

/// The operands of a warp's lanes; null for a lane that takes no part.
template <class Operand>
using LaneOperands = std::array<Operand*, kWarp>;

template <class Operand, class Operate>
void in_warp(unsigned mask, const char* what, int line, Operand& operand, Operate operate) {
  unsigned lanes = 0;
  if (!arrive_in_warp(mask, what, line, &operand, &lanes)) {
    wait_in(what, line);
    lanes = std::exchange(running().completes, 0);
    if (lanes == 0) return;
  }
  const unsigned first = running().id - running().lane();
  LaneOperands<Operand> operands{};
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((lanes >> lane & 1u) != 0)
      operands[lane] = static_cast<Operand*>(machine.threads[first + lane].operand);
  operate(operands);
  release_lanes(lanes);
}

/// Like above, but all 32 lanes must take part, as matrix instructions require.
template <class Operand, class Operate>
void in_whole_warp(const char* what, int line, Operand& operand, Operate operate) {
  in_warp(kAllLanes, what, line, operand, [&](LaneOperands<Operand>& operands) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if (operands[lane] == nullptr)
        report_and_stop(Kind::DivergedWarp, "%s of line %d: lane %u of warp %u takes no part", what, line,
                        lane, running().warp());
    }
    operate(operands);
  });
}

}  // namespace tunesmith_emulation
