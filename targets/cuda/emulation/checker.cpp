#include "checker.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "findings.h"

namespace tunesmith_emulation {

namespace {

constexpr uint32_t kNoFenceNeeded = ~0u;

struct Cell {
  uint32_t write_interval = 0, read_interval = 0;  // 0: never
  uint32_t write_step = 0, read_step = 0;
  uint32_t fences = kNoFenceNeeded;  // the writer's count of proxy fences when it wrote
  uint16_t writer = 0, reader = 0;
  bool many_readers = false;    // in the interval, not ordered among themselves; `reader` is the last
  bool arriving = false;        // an asynchronous write is under way
  uint8_t reads_in_flight = 0;  // of wgmma
};

struct Region {
  std::string name;
  char* low = nullptr;
  size_t bytes = 0;
  bool shared = false;
  unsigned shift = 4;  // cells are of 1 << shift bytes
  std::vector<Cell> cells;
};

bool checking = false;
Region shared;
std::vector<Region> buffers;
uint64_t shared_accesses = 0, global_accesses = 0;

uint32_t interval = 1;             // between two barriers of the block; grows through the launch
uint32_t block_interval = 1;       // the block's first
bool ordered_in_interval = false;  // by something else than the block's barrier
bool fenced_blocks = false;        // the kernel orders its blocks itself, by fences and atomics
std::vector<uint32_t> steps;       // of each thread
std::vector<Clock> knowledge;
bool knows_other_warps = false;

unsigned shift_of(unsigned granule) { return unsigned(__builtin_ctz(granule)); }

bool knows(const Thread& thread, unsigned other, uint32_t step) {
  return thread.id == other || (ordered_in_interval && knowledge[thread.id][other] >= step);
}

struct Place {
  char text[128];
};

Place place(const void* address) {
  Place place;
  describe_address(address, place.text, sizeof place.text);
  return place;
}

void race(const Thread& thread, const void* address, const char* does, const char* other_did,
          unsigned other) {
  report(Kind::Race, "%s: thread %u of block (%u, %u, %u) %s what thread %u %s, and no barrier lies between",
         place(address).text, thread.id, block_index.x, block_index.y, block_index.z, does, other, other_did);
}

void block_race(const Thread& thread, const void* address, const char* does, const char* other_did) {
  report(Kind::Race, "%s: thread %u of block (%u, %u, %u) %s what another block %s", place(address).text,
         thread.id, block_index.x, block_index.y, block_index.z, does, other_did);
}

void note_reader(const Thread& thread, Cell& cell) {
  const bool again = cell.read_interval == interval;
  cell.many_readers = again && (cell.many_readers || !knows(thread, cell.reader, cell.read_step));
  cell.read_interval = interval;
  cell.read_step = steps[thread.id];
  cell.reader = uint16_t(thread.id);
}

void read_cell(const Thread& thread, const Region& region, Cell& cell, const void* address) {
  if (cell.arriving) {
    report(Kind::ReadBeforeWait,
           "%s: thread %u reads it before thread %u has waited for the copy that writes it",
           place(address).text, thread.id, cell.writer);
    return;
  }
  if (cell.write_interval < block_interval) {
    if (region.shared) {
      report(Kind::Uninitialised, "%s: thread %u of block (%u, %u, %u) reads it, and nothing has written it",
             place(address).text, thread.id, block_index.x, block_index.y, block_index.z);
      return;
    }
    if (cell.write_interval != 0 && !fenced_blocks) block_race(thread, address, "reads", "has written");
  } else if (cell.write_interval == interval && !knows(thread, cell.writer, cell.write_step)) {
    race(thread, address, "reads", "has written", cell.writer);
  }
  note_reader(thread, cell);
}

/// Cells of shared memory that nothing has written in this interval: what most reads are of. False where
/// anything is to be looked at more closely; the cells are then as they were.
inline bool read_again(const Thread& thread, const void* at, size_t bytes) {
  const size_t offset = size_t(static_cast<const char*>(at) - shared.low);
  const size_t granule = size_t(1) << shared.shift;
  if (offset >= shared.bytes || bytes > shared.bytes - offset || ((offset | bytes) & (granule - 1)) != 0)
    return false;
  Cell* const first = &shared.cells[offset >> shared.shift];
  Cell* const end = first + (bytes >> shared.shift);
  for (const Cell* cell = first; cell != end; ++cell) {
    if (cell->arriving || cell->write_interval < block_interval || cell->write_interval == interval)
      return false;
  }
  ++shared_accesses;
  for (Cell* cell = first; cell != end; ++cell) note_reader(thread, *cell);
  return true;
}

bool races_with_readers(const Thread& thread, const Cell& cell) {
  if (cell.read_interval != interval) return false;
  // Of several readers only the last is kept; others may be ordered where anything orders within an interval.
  if (cell.many_readers && !ordered_in_interval) return true;
  return !knows(thread, cell.reader, cell.read_step);
}

void write_cell(const Thread& thread, const Region& region, Cell& cell, const void* address) {
  if (cell.reads_in_flight > 0) {
    race(thread, address, "writes", "reads in a wgmma that has not been waited for", cell.reader);
  } else if (cell.arriving) {
    race(thread, address, "writes", "has begun to copy there", cell.writer);
  } else if (races_with_readers(thread, cell)) {
    race(thread, address, "writes", "has read", cell.reader);
  } else if (cell.write_interval == interval && !knows(thread, cell.writer, cell.write_step)) {
    race(thread, address, "writes", "has written", cell.writer);
  } else if (!region.shared && !fenced_blocks) {
    if (cell.write_interval != 0 && cell.write_interval < block_interval) {
      block_race(thread, address, "writes", "has written");
    } else if (cell.read_interval != 0 && cell.read_interval < block_interval) {
      block_race(thread, address, "writes", "has read");
    }
  }
}

void stamp_write(const Thread& thread, Cell& cell) {
  cell.write_interval = interval;
  cell.write_step = steps[thread.id];
  cell.writer = uint16_t(thread.id);
  cell.fences = thread.proxy_fences;
}

template <class Visit>
void each_cell(Region& region, const void* address, size_t bytes, Visit visit) {
  const size_t offset = size_t(static_cast<const char*>(address) - region.low);
  const size_t granule = size_t(1) << region.shift;
  if (((offset | bytes) & (granule - 1)) != 0)
    need_granule(region.shared, unsigned((offset | bytes) & -(offset | bytes)));
  for (size_t cell = offset >> region.shift; cell < (offset + bytes) >> region.shift; ++cell)
    visit(region.cells[cell]);
}

void out_of_bounds(const Thread& thread, const void* address, size_t bytes, const char* does) {
  report(Kind::OutOfBounds, "thread %u of block (%u, %u, %u) %s %zu bytes at %s", thread.id, block_index.x,
         block_index.y, block_index.z, does, bytes, place(address).text);
}

// Is [address, + bytes) in shared memory, and not over the end of what the launch asked for?
bool inside_shared(const char* address, size_t bytes) {
  if (address + bytes > shared_memory.high) return false;
  const char* dynamic_end = shared_memory.dynamic + shared_memory.dynamic_bytes;
  const char* reserve_end = shared_memory.dynamic + shared_memory.dynamic_reserve;
  return address + bytes <= dynamic_end || address >= reserve_end;
}

// The region of an access, or null: a variable of the thread's own, or a mistake that has been reported.
Region* region_of(const Thread& thread, const void* at, size_t bytes, const char* does) {
  const char* address = static_cast<const char*>(at);
  if (address >= shared.low && address < shared.low + shared.bytes) {
    ++shared_accesses;
    if (inside_shared(address, bytes)) return &shared;
    out_of_bounds(thread, at, bytes, does);
    return nullptr;
  }
  if (address >= machine.stacks && address < machine.stacks + kStackBytes * machine.threads.size())
    return nullptr;
  for (Region& buffer : buffers) {
    if (address < buffer.low || address >= buffer.low + buffer.bytes) continue;
    ++global_accesses;
    if (address + bytes <= buffer.low + buffer.bytes) return &buffer;
    out_of_bounds(thread, at, bytes, does);
    return nullptr;
  }
  constexpr size_t kNear = 65536;  // the pages around a buffer are nobody's
  for (const Region& buffer : buffers) {
    if (address + kNear < buffer.low || address >= buffer.low + buffer.bytes + kNear) continue;
    out_of_bounds(thread, at, bytes, does);
    return nullptr;
  }
  return nullptr;
}

}  // namespace

void start_checks(unsigned shared_granule, unsigned global_granule) {
  checking = true;
  steps.assign(machine.threads.size(), 1);
  knowledge.assign(machine.threads.size(), Clock(machine.threads.size(), 0));
  shared.shared = true;
  // From a multiple of 16, so that an aligned access is one cell.
  shared.low = shared_memory.low - reinterpret_cast<uintptr_t>(shared_memory.low) % 16;
  shared.bytes = size_t(shared_memory.high - shared.low);
  shared.shift = shift_of(shared_granule);
  shared.cells.assign((shared.bytes >> shared.shift) + 1, {});
  for (Region& buffer : buffers) {
    buffer.shift = shift_of(global_granule);
    buffer.cells.assign((buffer.bytes >> buffer.shift) + 1, {});
  }
}

bool checks_on() { return checking; }

void watch_buffer(const std::string& name, char* low, size_t bytes) {
  Region& region = buffers.emplace_back();
  region.name = name;
  region.low = low;
  region.bytes = bytes;
}

void describe_address(const void* at, char* text, size_t bytes) {
  const char* address = static_cast<const char*>(at);
  if (address >= shared_memory.dynamic && address < shared_memory.dynamic + shared_memory.dynamic_reserve) {
    std::snprintf(text, bytes, "byte %zd of dynamic shared memory (%zu bytes)",
                  address - shared_memory.dynamic, shared_memory.dynamic_bytes);
    return;
  }
  if (address >= shared_memory.low && address < shared_memory.high) {
    std::snprintf(text, bytes, "byte %zd of static shared memory", address - shared_memory.low);
    return;
  }
  const Region* nearest = nullptr;
  size_t least = size_t(1) << 20;
  for (const Region& buffer : buffers) {
    const char* end = buffer.low + buffer.bytes;
    const size_t distance = address < buffer.low ? size_t(buffer.low - address)
                            : address >= end     ? size_t(address - end)
                                                 : 0;
    if (distance >= least) continue;
    least = distance;
    nearest = &buffer;
  }
  if (nearest == nullptr) {
    std::snprintf(text, bytes, "address %p", at);
  } else {
    std::snprintf(text, bytes, "byte %zd of %s (%zu bytes)", address - nearest->low, nearest->name.c_str(),
                  nearest->bytes);
  }
}

void begin_block_checks() {
  block_interval = ++interval;
  ordered_in_interval = knows_other_warps = false;
  // Not a number, in each type: what a kernel reads without having written it spoils its results.
  char* reserve_end = shared_memory.dynamic + shared_memory.dynamic_reserve;
  std::memset(shared_memory.low, 0xff, size_t(shared_memory.dynamic - shared_memory.low));
  std::memset(shared_memory.dynamic, 0xff, shared_memory.dynamic_bytes);
  std::memset(reserve_end, 0xff, size_t(shared_memory.high - reserve_end));
  if (!checking) return;
  for (Cell& cell : shared.cells) {
    cell.arriving = false;
    cell.reads_in_flight = 0;
  }
}

void next_barrier_interval() {
  ++interval;
  ordered_in_interval = false;
}

void order_lanes(unsigned first_thread, unsigned lanes) {
  if (!checking) return;
  Clock all(knows_other_warps ? machine.threads.size() : 0);
  if (knows_other_warps) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      const Clock& known = knowledge[first_thread + lane];
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], known[i]);
    }
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    Clock& known = knowledge[first_thread + lane];
    for (size_t i = 0; i < all.size(); ++i) known[i] = all[i];
    for (unsigned other = 0; other < kWarp; ++other)
      if ((lanes >> other & 1u) != 0) known[first_thread + other] = steps[first_thread + other];
  }
  for (unsigned lane = 0; lane < kWarp; ++lane)
    if ((lanes >> lane & 1u) != 0) ++steps[first_thread + lane];
  ordered_in_interval = true;
}

void release_to(Clock* clock) {
  if (!checking) return;
  const Thread& thread = running();
  clock->resize(machine.threads.size(), 0);
  const Clock& known = knowledge[thread.id];
  for (size_t i = 0; i < known.size(); ++i) (*clock)[i] = std::max((*clock)[i], known[i]);
  (*clock)[thread.id] = steps[thread.id]++;
}

void acquire_from(const Clock& clock) {
  if (!checking) return;
  Clock& known = knowledge[running().id];
  for (size_t i = 0; i < clock.size(); ++i) known[i] = std::max(known[i], clock[i]);
  ordered_in_interval = knows_other_warps = true;
}

uint32_t step_of(const Thread& thread) { return checking ? steps[thread.id] : 0; }

void memory_fence() {
  fenced_blocks = true;
  machine.only_barriers = false;
}

void check_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checking) return;
  if (read_again(thread, address, bytes)) return;
  if (Region* region = region_of(thread, address, bytes, "reads"))
    each_cell(*region, address, bytes, [&](Cell& cell) { read_cell(thread, *region, cell, address); });
}

void check_write(const Thread& thread, const void* address, size_t bytes) {
  if (!checking) return;
  if (Region* region = region_of(thread, address, bytes, "writes")) {
    each_cell(*region, address, bytes, [&](Cell& cell) {
      write_cell(thread, *region, cell, address);
      stamp_write(thread, cell);
    });
  }
}

void check_atomic(const void* address, size_t bytes) {
  if (checking) region_of(running(), address, bytes, "updates");
}

void begin_async_write(const Thread& thread, void* address, size_t bytes) {
  if (!checking) return;
  Region* region = region_of(thread, address, bytes, "copies");
  if (region == nullptr || !region->shared) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    write_cell(thread, *region, cell, address);
    stamp_write(thread, cell);
    cell.arriving = true;
  });
}

void end_async_write(const Thread& thread, void* address, size_t bytes, bool asynchronous_proxy) {
  if (!checking || !inside_shared(static_cast<char*>(address), bytes)) return;
  each_cell(shared, address, bytes, [&](Cell& cell) {
    stamp_write(thread, cell);
    if (asynchronous_proxy) cell.fences = kNoFenceNeeded;
    cell.arriving = false;
  });
}

void begin_async_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checking) return;
  Region* region = region_of(thread, address, bytes, "multiplies");
  if (region == nullptr || !region->shared) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    read_cell(thread, *region, cell, address);
    if (cell.write_interval >= block_interval && cell.fences == machine.threads[cell.writer].proxy_fences) {
      report(Kind::MissingProxyFence,
             "%s: wgmma reads what thread %u has written without a fence.proxy.async after it",
             place(address).text, cell.writer);
    }
    ++cell.reads_in_flight;
  });
}

void end_async_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checking || !inside_shared(static_cast<const char*>(address), bytes)) return;
  each_cell(shared, address, bytes, [&](Cell& cell) {
    if (cell.reads_in_flight > 0) --cell.reads_in_flight;
    note_reader(thread, cell);
  });
}

void report_accesses() {
  report_counter("shared_accesses", shared_accesses);
  report_counter("global_accesses", global_accesses);
}

}  // namespace tunesmith_emulation
