// Checks plain accesses of the kernel text.
#include "checker.h"

#include "cells.h"

namespace tunesmith_emulation {
namespace {

/// Has the block written this shared memory, plainly or atomically?
bool is_initialised(Region& region, const Cell& cell) {
  return cell.write_interval >= checks.block_interval ||
         (!region.atomics.empty() && region.atomic_use(cell).interval >= checks.block_interval);
}

/// Fast path for cells of shared memory not written in this interval, which most
/// reads are. Returns false, with cells unchanged, when the full check is needed.
inline bool read_again(const Thread& thread, const void* at, size_t bytes) {
  Region& shared = checks.shared;
  const size_t offset = size_t(static_cast<const char*>(at) - shared.low);
  const size_t granule = size_t(1) << shared.shift;
  if (offset >= shared.bytes || bytes > shared.bytes - offset || ((offset | bytes) & (granule - 1)) != 0 ||
      !shared.atomics.empty())
    return false;
  Cell* const first = &shared.cells[offset >> shared.shift];
  Cell* const end = first + (bytes >> shared.shift);
  for (const Cell* cell = first; cell != end; ++cell) {
    if (cell->arriving || cell->write_interval < checks.block_interval ||
        cell->write_interval == checks.interval)
      return false;
  }
  ++checks.shared_accesses;
  for (Cell* cell = first; cell != end; ++cell) note_reader(thread, *cell);
  return true;
}

bool races_with_readers(const Thread& thread, const Cell& cell) {
  if (cell.read_interval != checks.interval) return false;
  // Only the last of several readers is kept; others may be ordered within an interval.
  if (cell.many_readers && !checks.ordered_in_interval) return true;
  // A thread that reads and then writes was not ordered after others in between.
  if (cell.unknown_reader && cell.reader == thread.id && cell.read_step == checks.steps[thread.id])
    return true;
  return !knows(thread, cell.reader, cell.read_step);
}

}  // namespace

void report_race(const Thread& thread, const void* address, const char* does, const char* other_did,
                 unsigned other) {
  report(Kind::Race, "%s: thread %u of block (%u, %u, %u) %s what thread %u %s, and no barrier lies between",
         place_of(address).text, thread.id, block_index.x, block_index.y, block_index.z, does, other,
         other_did);
}

void report_block_race(const Thread& thread, const void* address, const char* does, const char* other_did) {
  report(Kind::Race, "%s: thread %u of block (%u, %u, %u) %s what another block %s", place_of(address).text,
         thread.id, block_index.x, block_index.y, block_index.z, does, other_did);
}

void read_cell(const Thread& thread, Region& region, Cell& cell, const void* address) {
  if (cell.arriving) {
    report(Kind::ReadBeforeWait,
           "%s: thread %u reads it before thread %u has waited for the copy that writes it",
           place_of(address).text, thread.id, cell.writer);
    return;
  }
  if (cell.write_interval < checks.block_interval) {
    if (region.shared && !is_initialised(region, cell)) {
      report(Kind::Uninitialised, "%s: thread %u of block (%u, %u, %u) reads it, and nothing has written it",
             place_of(address).text, thread.id, block_index.x, block_index.y, block_index.z);
      return;
    }
    if (!region.shared && cell.write_interval != 0 && !checks.fenced_blocks)
      report_block_race(thread, address, "reads", "has written");
  } else if (cell.write_interval == checks.interval && !knows(thread, cell.writer, cell.write_step)) {
    report_race(thread, address, "reads", "has written", cell.writer);
  }
  if (!region.atomics.empty()) compare_with_atomics(thread, region, cell, address, "reads");
  note_reader(thread, cell);
}

void compare_with_plain(const Thread& thread, const Region& region, const Cell& cell, const void* address,
                        const char* does) {
  if (cell.reads_in_flight > 0) {
    report_race(thread, address, does,
                region.shared ? "reads in a wgmma that has not been waited for"
                              : "copies from asynchronously, and has not waited for",
                cell.reader);
  } else if (cell.arriving) {
    report_race(thread, address, does, "has begun to copy there", cell.writer);
  } else if (races_with_readers(thread, cell)) {
    report_race(thread, address, does, "has read", cell.reader);
  } else if (cell.write_interval == checks.interval && !knows(thread, cell.writer, cell.write_step)) {
    report_race(thread, address, does, "has written", cell.writer);
  } else if (!region.shared && !checks.fenced_blocks) {
    if (cell.write_interval != 0 && cell.write_interval < checks.block_interval) {
      report_block_race(thread, address, does, "has written");
    } else if (cell.read_interval != 0 && cell.read_interval < checks.block_interval) {
      report_block_race(thread, address, does, "has read");
    }
  }
  if (cell.read_only) {
    report(Kind::ReadOnlyPath,
           "%s: thread %u %s what is read by __ldg, which is for data that nothing writes",
           place_of(address).text, thread.id, does);
  }
}

void write_cell(const Thread& thread, Region& region, Cell& cell, const void* address) {
  compare_with_plain(thread, region, cell, address, "writes");
  if (!region.atomics.empty()) compare_with_atomics(thread, region, cell, address, "writes");
}

void check_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checks.on) return;
  if (read_again(thread, address, bytes)) return;
  if (Region* region = region_of(thread, address, bytes, "reads"))
    each_cell(*region, address, bytes, [&](Cell& cell) { read_cell(thread, *region, cell, address); });
}

void check_write(const Thread& thread, const void* address, size_t bytes) {
  if (!checks.on) return;
  if (Region* region = region_of(thread, address, bytes, "writes")) {
    each_cell(*region, address, bytes, [&](Cell& cell) {
      write_cell(thread, *region, cell, address);
      stamp_write(thread, cell);
    });
  }
}

void check_read_only(const void* address, size_t bytes, int line) {
  const Thread& thread = running();
  if (is_shared(address, bytes) || stack_owner(address) != kNobody)
    report_and_stop(Kind::BadOperand, "__ldg of line %d: thread %u reads what is not global memory", line,
                    thread.id);
  if (!checks.on) return;
  Region* region = region_of(thread, address, bytes, "reads");
  if (region == nullptr) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    if (cell.write_interval != 0 || (!region->atomics.empty() && region->atomic_use(cell).interval != 0))
      report(Kind::ReadOnlyPath,
             "%s: thread %u reads by __ldg of line %d what the kernel writes; it is for data that nothing "
             "writes",
             place_of(address).text, thread.id, line);
    cell.read_only = true;
  });
}

}  // namespace tunesmith_emulation
