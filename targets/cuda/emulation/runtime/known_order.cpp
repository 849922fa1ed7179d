// Orders the threads of a block: its barrier begins a new interval; within an interval, __syncwarp and
// mbarriers order them by vector clocks.
#include <algorithm>

#include "cells.h"

namespace tunesmith_emulation {
namespace {

bool knows_other_warps = false;

}  // namespace

void begin_block_checks() {
  checks.block_interval = ++checks.interval;
  checks.ordered_in_interval = knows_other_warps = false;
  // NaN in each type, so that reads of unwritten memory make results wrong.
  char* reserve_end = shared_memory.dynamic + shared_memory.dynamic_reserve;
  std::memset(shared_memory.low, 0xff, size_t(shared_memory.dynamic - shared_memory.low));
  std::memset(shared_memory.dynamic, 0xff, shared_memory.dynamic_bytes);
  std::memset(reserve_end, 0xff, size_t(shared_memory.high - reserve_end));
  if (!checks.on) return;
  for (Cell& cell : checks.shared.cells) {
    cell.arriving = false;
    cell.reads_in_flight = 0;
  }
}

void next_barrier_interval() {
  ++checks.interval;
  checks.ordered_in_interval = false;
}

void order_lanes(unsigned first_thread, unsigned lanes) {
  if (!checks.on) return;
  Clock all(knows_other_warps ? machine.threads.size() : 0);
  if (knows_other_warps) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      const Clock& known = checks.knowledge[first_thread + lane];
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], known[i]);
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    Clock& known = checks.knowledge[first_thread + lane];
    for (size_t i = 0; i < all.size(); ++i) known[i] = all[i];
    for (unsigned other = 0; other < kWarp; ++other)
      if ((lanes >> other & 1u) != 0) known[first_thread + other] = checks.steps[first_thread + other];
  }
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((lanes >> lane & 1u) != 0) ++checks.steps[first_thread + lane];
  checks.ordered_in_interval = true;
}

void release_to(Clock* clock) {
  if (!checks.on) return;
  const Thread& thread = running();
  clock->resize(machine.threads.size(), 0);
  const Clock& known = checks.knowledge[thread.id];
  for (size_t i = 0; i < known.size(); ++i) (*clock)[i] = std::max((*clock)[i], known[i]);
  (*clock)[thread.id] = checks.steps[thread.id]++;
}

void acquire_from(const Clock& clock) {
  if (!checks.on) return;
  Clock& known = checks.knowledge[running().id];
  for (size_t i = 0; i < clock.size(); ++i) known[i] = std::max(known[i], clock[i]);
  ++checks.steps[running().id];  // a merge starts a new step
  checks.ordered_in_interval = knows_other_warps = true;
}

uint32_t step_of(const Thread& thread) { return checks.on ? checks.steps[thread.id] : 0; }

void memory_fence() {
  checks.fenced_blocks = true;
  machine.only_barriers = false;
}

}  // namespace tunesmith_emulation
