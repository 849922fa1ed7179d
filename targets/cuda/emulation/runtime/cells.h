// The checker's shadow memory, and each thread's vector clock of
// the other threads. Shared by the files that check accesses.
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
  uint32_t fences = kNoFenceNeeded;  // the writer's count of proxy fences at the write
  uint32_t reads_in_flight = 0;      // by wgmma (shared memory) or asynchronous copies (global memory)
  uint16_t writer = 0, reader = 0;
  bool many_readers = false;    // read by several unordered threads in the interval; `reader` is the last
  bool unknown_reader = false;  // the last reader was not ordered after the reader before it
  bool arriving = false;        // an asynchronous write is pending
  bool read_only = false;       // has been read through the read-only path (ld.global.nc)
};

/// Atomic updates of a cell; they do not race with each other.
struct AtomicUse {
  uint32_t interval = 0, step = 0;  // of the last update; 0: never
  uint16_t thread = 0;
  bool many = false;  // by several unordered threads in the interval
};

struct Region {
  std::string name;
  char* low = nullptr;
  size_t bytes = 0;
  bool shared = false;
  unsigned shift = 4;  // cells are of 1 << shift bytes
  std::vector<Cell> cells;
  std::vector<AtomicUse> atomics;  // per cell; empty until a cell is updated atomically

  AtomicUse& atomic_use(const Cell& cell) { return atomics[size_t(&cell - cells.data())]; }
};

struct CheckState {
  bool on = false;
  Region shared;
  std::vector<Region> buffers;
  uint64_t shared_accesses = 0, global_accesses = 0;

  uint32_t interval = 1;             // between two barriers of the block; increases through the launch
  uint32_t block_interval = 1;       // first interval of the block
  bool ordered_in_interval = false;  // threads were ordered by something other than the block's barrier
  bool fenced_blocks = false;        // the kernel orders its blocks by fences and atomics
  std::vector<uint32_t> steps;       // per thread
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

/// Checks a plain read, reports errors, and records the read.
void read_cell(const Thread& thread, Region& region, Cell& cell, const void* address);
/// Checks a plain write and reports errors.
void write_cell(const Thread& thread, Region& region, Cell& cell, const void* address);
/// Reports conflicts of a write or atomic update with a plain access of the cell.
void compare_with_plain(const Thread& thread, const Region& region, const Cell& cell, const void* address,
                        const char* does);
/// Reports conflicts of a plain access with an atomic update.
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

/// Is [address, + bytes) in shared memory, within the size the launch asked for?
bool inside_shared(const char* address, size_t bytes);

/// The region of an access; null for a thread's own variable, or after an error was reported.
Region* region_of(const Thread& thread, const void* address, size_t bytes, const char* does);

}  // namespace tunesmith_emulation
