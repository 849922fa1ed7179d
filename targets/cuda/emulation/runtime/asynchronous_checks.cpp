// Pending copies and products: their results have
// not arrived, and their sources must not change.
#include "cells.h"

namespace tunesmith_emulation {

void begin_async_write(const Thread& thread, void* address, size_t bytes) {
  if (!checks.on) return;
  Region* region = region_of(thread, address, bytes, "copies");
  if (region == nullptr || !region->shared) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    write_cell(thread, *region, cell, address);
    stamp_write(thread, cell);
    cell.arriving = true;
  });
}

void end_async_write(const Thread& thread, void* address, size_t bytes, bool asynchronous_proxy) {
  if (!checks.on || !inside_shared(static_cast<char*>(address), bytes)) return;
  each_cell(checks.shared, address, bytes, [&](Cell& cell) {
    stamp_write(thread, cell);
    if (asynchronous_proxy) cell.fences = kNoFenceNeeded;
    cell.arriving = false;
  });
}

void begin_async_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checks.on) return;
  Region* region = region_of(thread, address, bytes, "multiplies");
  if (region == nullptr || !region->shared) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    read_cell(thread, *region, cell, address);
    if (cell.write_interval >= checks.block_interval &&
        cell.fences == machine.threads[cell.writer].proxy_fences) {
      report(Kind::MissingProxyFence,
             "%s: wgmma reads what thread %u has written without a fence.proxy.async after it",
             place_of(address).text, cell.writer);
    }
    ++cell.reads_in_flight;
  });
}

void end_async_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checks.on || !inside_shared(static_cast<const char*>(address), bytes)) return;
  each_cell(checks.shared, address, bytes, [&](Cell& cell) {
    if (cell.reads_in_flight > 0) --cell.reads_in_flight;
    note_reader(thread, cell);
  });
}

void begin_copy_read(const Thread& thread, const void* address, size_t bytes, bool asynchronous_proxy) {
  if (!checks.on) return;
  Region* region = region_of(thread, address, bytes, "copies");
  if (region == nullptr) return;
  each_cell(*region, address, bytes, [&](Cell& cell) {
    read_cell(thread, *region, cell, address);
    if (asynchronous_proxy && cell.write_interval != 0)
      report(Kind::MissingProxyFence,
             "%s: a box is copied of what the kernel has written, without a fence.proxy.async of global "
             "memory",
             place_of(address).text);
    ++cell.reads_in_flight;
  });
}

void end_copy_read(const Thread& thread, const void* address, size_t bytes) {
  if (!checks.on) return;
  const char* low = static_cast<const char*>(address);
  for (Region& buffer : checks.buffers) {
    // Accesses out of bounds were reported when the copy began, and not recorded.
    if (low < buffer.low || low + bytes > buffer.low + buffer.bytes) continue;
    each_cell(buffer, address, bytes, [&](Cell& cell) {
      if (cell.reads_in_flight > 0) --cell.reads_in_flight;
      note_reader(thread, cell);
    });
    return;
  }
}

}  // namespace tunesmith_emulation
