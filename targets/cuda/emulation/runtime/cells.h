// What the checker keeps of memory, and what each thread knows of the others: shared by the files that check
// accesses, in which one place has each thing.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {

constexpr uint32_t kNoFenceNeeded = ~0u;

struct Cell {
  uint32_t write_interval = 0, read_interval = 0;  // 0: never
  uint32_t write_step = 0, read_step = 0;
  uint32_t fences = kNoFenceNeeded;  // the writer's count of proxy fences when it wrote
  uint32_t reads_in_flight = 0;      // of wgmma in shared memory, of asynchronous copies in global memory
  uint16_t writer = 0, reader = 0;
  bool many_readers = false;    // in the interval, not ordered among themselves; `reader` is the last
  bool unknown_reader = false;  // when the last one read, it did not know of the one before it
  bool arriving = false;        // an asynchronous write is under way
  bool read_only = false;       // has been read by the path for data that nothing writes
};

/// Atomic updates of a cell, which do not race with one another.
struct AtomicUse {
  uint32_t interval = 0, step = 0;  // of the last one; 0: never
  uint16_t thread = 0;
  bool many = false;  // by several threads in the interval, not ordered among themselves
};

struct Region {
  std::string name;
  char* low = nullptr;
  size_t bytes = 0;
  bool shared = false;
  unsigned shift = 4;  // cells are of 1 << shift bytes
  std::vector<Cell> cells;
  std::vector<AtomicUse> atomics;  // of each cell; empty while none is updated atomically

  AtomicUse& atomic_use(const Cell& cell) { return atomics[size_t(&cell - cells.data())]; }
};

struct CheckState {
  bool on = false;
  Region shared;
  std::vector<Region> buffers;
  uint64_t shared_accesses = 0, global_accesses = 0;

  uint32_t interval = 1;             // between two barriers of the block; grows through the launch
  uint32_t block_interval = 1;       // the block's first
  bool ordered_in_interval = false;  // by something else than the block's barrier
  bool fenced_blocks = false;        // the kernel orders its blocks itself, by fences and atomics
  std::vector<uint32_t> steps;       // of each thread
  std::vector<Clock> knowledge;
};
inline CheckState checks;

inline bool knows(const Thread& thread, unsigned other, uint32_t step) {
  return thread.id == other || (checks.ordered_in_interval && checks.knowledge[thread.id][other] >= step);
}

struct Place {
  char text[128];
};
Place place_of(const void* address);

void report_race(const Thread& thread, const void* address, const char* does, const char* other_did,
                 unsigned other);
void report_block_race(const Thread& thread, const void* address, const char* does, const char* other_did);

inline void note_reader(const Thread& thread, Cell& cell) {
  const uint32_t step = checks.steps[thread.id];
  const bool again = cell.read_interval == checks.interval;
  if (again && cell.reader == thread.id) {
    if (cell.read_step != step) cell.unknown_reader = false;
    cell.read_step = step;
    return;
  }
  cell.unknown_reader = again && !knows(thread, cell.reader, cell.read_step);
  cell.many_readers = cell.unknown_reader || (again && cell.many_readers);
  cell.read_interval = checks.interval;
  cell.read_step = step;
  cell.reader = uint16_t(thread.id);
}

inline void stamp_write(const Thread& thread, Cell& cell) {
  cell.write_interval = checks.interval;
  cell.write_step = checks.steps[thread.id];
  cell.writer = uint16_t(thread.id);
  cell.fences = thread.proxy_fences;
}

/// Reports what is wrong with a plain read, and notes it.
void read_cell(const Thread& thread, Region& region, Cell& cell, const void* address);
/// Reports what is wrong with a plain write.
void write_cell(const Thread& thread, Region& region, Cell& cell, const void* address);
/// Reports where a write, or an atomic update, of a cell conflicts with a plain access.
void compare_with_plain(const Thread& thread, const Region& region, const Cell& cell, const void* address,
                        const char* does);
/// Reports where a plain access conflicts with an atomic update.
void compare_with_atomics(const Thread& thread, Region& region, const Cell& cell, const void* address,
                          const char* does);

template <class Visit>
void each_cell(Region& region, const void* address, size_t bytes, Visit visit) {
  const size_t offset = size_t(static_cast<const char*>(address) - region.low);
  const size_t granule = size_t(1) << region.shift;
  if (((offset | bytes) & (granule - 1)) != 0)
    need_granule(region.shared, unsigned((offset | bytes) & -(offset | bytes)));
  for (size_t cell = offset >> region.shift; cell < (offset + bytes) >> region.shift; ++cell)
    visit(region.cells[cell]);
}

/// Is [address, + bytes) in shared memory, and not over the end of what the launch asked for?
bool inside_shared(const char* address, size_t bytes);

/// The region of an access, or null: a variable of the thread's own, or a mistake that has been reported.
Region* region_of(const Thread& thread, const void* address, size_t bytes, const char* does);

}  // namespace tunesmith_emulation
