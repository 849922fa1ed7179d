// mbarrier, and the copies of boxes of a tensor that arrive at one: when somebody waits, as late as may be. A
// barrier carries what those who arrived at it have done to those who wait for its phase, so races across it
// are found.
#include "mbarrier.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {
namespace {

constexpr size_t kRowBytes = 128, kChunk = 16;

struct Barrier {
  unsigned count = 0, pending = 0, phase = 0;
  uint64_t awaited_bytes = 0;
  Clock arriving, completed;  // of this phase, and of the last one
};

struct BoxCopy {
  char* to;
  TensorMap map;
  int x, y;
  void* barrier;
  unsigned issuer;
  uint32_t issuer_step;
};

std::map<const void*, Barrier> barriers;
std::vector<BoxCopy> copies;  // that have not arrived, oldest first

Barrier& barrier_at(void* address, int line) {
  const auto found = barriers.find(address);
  if (found == barriers.end())
    report_and_stop(Kind::BadOperand, "thread %u uses an mbarrier that was not initialised (line %d)",
                    running().id, line);
  return found->second;
}

void complete_phase(Barrier& barrier) {
  if (barrier.pending > 0 || barrier.awaited_bytes > 0) return;
  barrier.pending = barrier.count;
  ++barrier.phase;
  barrier.completed = barrier.arriving;
  ++machine.progress;
}

void copy_rows(const BoxCopy& copy) {
  const TensorMap& map = copy.map;
  for (unsigned row = 0; row < map.box[1]; ++row) {
    char line[kRowBytes] = {};  // what lies outside of the tensor is zero
    for (unsigned column = 0; column < map.box[0]; ++column) {
      const int x = copy.x + int(column), y = copy.y + int(row);
      if (x < 0 || y < 0 || unsigned(x) >= map.extent[0] || unsigned(y) >= map.extent[1]) continue;
      std::memcpy(line + size_t(2) * column, map.base + map.row_bytes * unsigned(y) + 2 * size_t(x), 2);
    }
    for (unsigned chunk = 0; chunk < kRowBytes / kChunk; ++chunk)
      std::memcpy(copy.to + row * kRowBytes + ((chunk ^ (row & 7)) * kChunk), line + chunk * kChunk, kChunk);
  }
}

void land_copies(void* address, Barrier& barrier) {
  std::vector<BoxCopy> others;
  for (const BoxCopy& copy : copies) {
    if (copy.barrier != address) {
      others.push_back(copy);
      continue;
    }
    copy_rows(copy);
    const size_t bytes = size_t(copy.map.box[1]) * kRowBytes;
    end_async_write(machine.threads[copy.issuer], copy.to, bytes, true);
    if (checks_on()) {
      barrier.arriving.resize(machine.threads.size(), 0);
      barrier.arriving[copy.issuer] =
          std::max(barrier.arriving[copy.issuer], step_of(machine.threads[copy.issuer]));
    }
    if (bytes > barrier.awaited_bytes)
      report_and_stop(Kind::BadOperand, "an mbarrier receives %zu bytes and expects %llu", bytes,
                      static_cast<unsigned long long>(barrier.awaited_bytes));
    barrier.awaited_bytes -= bytes;
  }
  copies = std::move(others);
  complete_phase(barrier);
}

}  // namespace

void begin_block_mbarriers() {
  barriers.clear();
  copies.clear();
}

void init_mbarrier(void* address, unsigned count) {
  if (address < shared_memory.low || address >= shared_memory.high ||
      reinterpret_cast<uintptr_t>(address) % 8 != 0)
    report_and_stop(Kind::BadOperand,
                    "thread %u: an mbarrier is 8 bytes of shared memory, at a multiple of 8", running().id);
  check_write(running(), address, 8);
  Barrier& barrier = barriers[address];
  barrier = {};
  barrier.count = barrier.pending = count;
}

void arrive_mbarrier(void* address, unsigned expected_bytes) {
  Barrier& barrier = barrier_at(address, 0);
  check_read(running(), address, 8);
  barrier.awaited_bytes += expected_bytes;
  if (barrier.pending == 0)
    report_and_stop(Kind::BadOperand, "thread %u arrives at an mbarrier at which all %u have arrived",
                    running().id, barrier.count);
  release_to(&barrier.arriving);
  --barrier.pending;
  complete_phase(barrier);
}

void wait_mbarrier(void* address, unsigned parity, int line) {
  Thread& thread = running();
  Barrier& barrier = barrier_at(address, line);
  check_read(thread, address, 8);
  thread.waits_for = "an mbarrier";
  thread.line = line;
  // Each turn of this thread follows one of each other that can go on: without progress among them there will
  // be none.
  uint64_t seen = machine.progress;
  for (unsigned idle = 0; (barrier.phase & 1) == parity;) {
    land_copies(address, barrier);
    if ((barrier.phase & 1) != parity) break;
    yield();
    idle = machine.progress == seen ? idle + 1 : 0;
    seen = machine.progress;
    if (idle > 2)
      report_and_stop(Kind::Deadlock,
                      "thread %u waits in line %d for phase %u of an mbarrier, and no thread goes on",
                      thread.id, line, parity);
  }
  acquire_from(barrier.completed);
}

void copy_box(void* shared, const TensorMap* map, int x, int y, void* barrier, int line) {
  Thread& thread = running();
  if (shared_address(shared) % 1024 != 0 || size_t{map->box[0]} * 2 != kRowBytes)
    report_and_stop(Kind::BadOperand,
                    "the box of line %d: it must begin at a multiple of 1024 bytes of shared memory, and be "
                    "128 bytes wide",
                    line);
  barrier_at(barrier, line);
  begin_async_write(thread, shared, size_t(map->box[1]) * kRowBytes);
  copies.push_back({static_cast<char*>(shared), *map, x, y, barrier, thread.id, step_of(thread)});
}

}  // namespace tunesmith_emulation
