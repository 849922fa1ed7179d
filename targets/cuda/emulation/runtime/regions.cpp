// Finds the memory that an address belongs to.
#include <cstdio>

#include "cells.h"

namespace tunesmith_emulation {
namespace {

void report_outside(const Thread& thread, const void* address, size_t bytes, const char* does) {
  report(Kind::OutOfBounds, "thread %u of block (%u, %u, %u) %s %zu bytes at %s", thread.id, block_index.x,
         block_index.y, block_index.z, does, bytes, place_of(address).text);
}

unsigned shift_of(unsigned granule) { return unsigned(__builtin_ctz(granule)); }

}  // namespace

Place place_of(const void* address) {
  Place place;
  describe_address(address, place.text, sizeof place.text);
  return place;
}

bool inside_shared(const char* address, size_t bytes) {
  if (address + bytes > shared_memory.high) return false;
  const char* dynamic_end = shared_memory.dynamic + shared_memory.dynamic_bytes;
  const char* reserve_end = shared_memory.dynamic + shared_memory.dynamic_reserve;
  return address + bytes <= dynamic_end || address >= reserve_end;
}

bool is_shared(const void* address, size_t bytes) {
  const char* at = static_cast<const char*>(address);
  return at >= shared_memory.low && at + bytes <= shared_memory.high;
}

Region* region_of(const Thread& thread, const void* at, size_t bytes, const char* does) {
  const char* address = static_cast<const char*>(at);
  Region& shared = checks.shared;
  if (address >= shared.low && address < shared.low + shared.bytes) {
    ++checks.shared_accesses;
    if (inside_shared(address, bytes)) return &shared;
    report_outside(thread, at, bytes, does);
    return nullptr;
  }
  if (const unsigned owner = stack_owner(at); owner != kNobody) {
    if (owner != thread.id)
      report(Kind::OutOfBounds, "thread %u of block (%u, %u, %u) %s %zu bytes of a variable of thread %u",
             thread.id, block_index.x, block_index.y, block_index.z, does, bytes, owner);
    return nullptr;
  }
  for (Region& buffer : checks.buffers) {
    if (address < buffer.low || address >= buffer.low + buffer.bytes) continue;
    ++checks.global_accesses;
    if (address + bytes <= buffer.low + buffer.bytes) return &buffer;
    report_outside(thread, at, bytes, does);
    return nullptr;
  }
  constexpr size_t kNear = 65536;  // the pages around a buffer are guards
  for (const Region& buffer : checks.buffers) {
    if (address + kNear < buffer.low || address >= buffer.low + buffer.bytes + kNear) continue;
    report_outside(thread, at, bytes, does);
    return nullptr;
  }
  return nullptr;
}

void start_checks(unsigned shared_granule, unsigned global_granule) {
  checks.on = true;
  checks.steps.assign(machine.threads.size(), 1);
  checks.knowledge.assign(machine.threads.size(), Clock(machine.threads.size(), 0));
  Region& shared = checks.shared;
  shared.shared = true;
  // From a multiple of 16, so that an aligned access is one cell.
  shared.low = shared_memory.low - reinterpret_cast<uintptr_t>(shared_memory.low) % 16;
  shared.bytes = size_t(shared_memory.high - shared.low);
  shared.shift = shift_of(shared_granule);
  shared.cells.assign((shared.bytes >> shared.shift) + 1, {});
  for (Region& buffer : checks.buffers) {
    buffer.shift = shift_of(global_granule);
    buffer.cells.assign((buffer.bytes >> buffer.shift) + 1, {});
  }
}

bool checks_on() { return checks.on; }

void watch_buffer(const std::string& name, char* low, size_t bytes) {
  Region& region = checks.buffers.emplace_back();
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
  for (const Region& buffer : checks.buffers) {
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

void report_accesses() {
  report_counter("shared_accesses", checks.shared_accesses);
  report_counter("global_accesses", checks.global_accesses);
}

}  // namespace tunesmith_emulation
