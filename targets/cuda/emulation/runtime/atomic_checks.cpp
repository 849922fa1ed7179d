// Atomic updates do not race with each other, but they do with plain accesses.
#include "cells.h"

namespace tunesmith_emulation {
namespace {

void update_cell(const Thread& thread, Region& region, Cell& cell, const void* address, bool reads) {
  AtomicUse& use = region.atomic_use(cell);
  if (reads && region.shared && cell.write_interval < checks.block_interval &&
      use.interval < checks.block_interval) {
    report(Kind::Uninitialised, "%s: thread %u of block (%u, %u, %u) updates it, and nothing has written it",
           place_of(address).text, thread.id, block_index.x, block_index.y, block_index.z);
  }
  compare_with_plain(thread, region, cell, address, "updates atomically");
  const bool again = use.interval == checks.interval;
  use.many = again && (use.many || !knows(thread, use.thread, use.step));
  use.interval = checks.interval;
  use.step = checks.steps[thread.id];
  use.thread = uint16_t(thread.id);
}

}  // namespace

void compare_with_atomics(const Thread& thread, Region& region, const Cell& cell, const void* address,
                          const char* does) {
  const AtomicUse& use = region.atomic_use(cell);
  if (use.interval == checks.interval) {
    // Of several updating threads only the last is kept, as for readers.
    if ((use.many && !checks.ordered_in_interval) || !knows(thread, use.thread, use.step))
      report_race(thread, address, does, "has updated atomically", use.thread);
  } else if (!region.shared && use.interval != 0 && use.interval < checks.block_interval &&
             !checks.fenced_blocks) {
    report_block_race(thread, address, does, "has updated atomically");
  }
}

void check_atomic(const void* address, size_t bytes, bool reads) {
  const Thread& thread = running();
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    report_and_stop(Kind::Misaligned, "thread %u updates %zu bytes atomically at %s, not a multiple of it",
                    thread.id, bytes, place_of(address).text);
  if (stack_owner(address) != kNobody)
    report_and_stop(Kind::BadOperand, "thread %u updates a variable of a thread's own atomically", thread.id);
  if (!checks.on) return;
  Region* region = region_of(thread, address, bytes, "updates");
  if (region == nullptr) return;
  if (region->atomics.empty()) region->atomics.resize(region->cells.size());
  each_cell(*region, address, bytes, [&](Cell& cell) { update_cell(thread, *region, cell, address, reads); });
}

}  // namespace tunesmith_emulation
