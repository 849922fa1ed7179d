// mbarrier, and box copies of tensors, which complete as late as possible: when a thread waits for their
// barrier. A barrier orders the threads that arrived before those that wait for its phase, so that races
// across it are detected.
#include "mbarrier.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "checker.h"
#include "findings.h"
#include "machine.h"

namespace tunesmith_emulation {
namespace {

constexpr size_t kRowBytes = 128, kSwizzledBytes = 16;
/// The content of an mbarrier's bytes: shows whether they were overwritten.
constexpr uint64_t kMark = 0x6d62617272696572;

struct Mbarrier {
  unsigned count = 0, pending = 0, phase = 0;
  uint64_t awaited_bytes = 0;
  unsigned initialiser = 0, fences = 0;  // the thread, and its fences until then
  Clock arriving, completed;             // of this phase, and of the last one
};

struct BoxCopy {
  char* to;
  TensorMap map;
  BoxPosition first;
  void* mbarrier;
  unsigned issuer;
  uint32_t issuer_step;
};

std::map<const void*, Mbarrier> barriers;
std::vector<BoxCopy> copies;  // pending, oldest first
std::set<unsigned> copiers;   // threads of the block that have started copies

/// Each makes barriers that the thread initialised before it visible to copies.
unsigned fences_of(const Thread& thread) { return thread.proxy_fences + thread.mbarrier_fences; }

Mbarrier& barrier_at(void* address, int line) {
  const auto found = barriers.find(address);
  if (found == barriers.end())
    report_and_stop(Kind::BadOperand, "thread %u uses an mbarrier that was not initialised (line %d)",
                    running().id, line);
  uint64_t mark = 0;
  std::memcpy(&mark, address, sizeof mark);
  if (mark != kMark)
    report_and_stop(Kind::BadOperand, "thread %u uses an mbarrier (line %d) whose memory was written over",
                    running().id, line);
  return found->second;
}

void complete_phase(Mbarrier& mbarrier) {
  if (mbarrier.pending > 0 || mbarrier.awaited_bytes > 0) return;
  mbarrier.pending = mbarrier.count;
  ++mbarrier.phase;
  mbarrier.completed = mbarrier.arriving;
  ++machine.progress;
}

unsigned rows_of(const TensorMap& map) { return map.box[1] * map.box[2] * map.box[3]; }

/// The row's place in the tensor; null if it lies outside.
const char* source_row(const BoxCopy& copy, unsigned row) {
  const char* place = copy.map.base;
  for (unsigned d = 1; d < 4; row /= copy.map.box[d++]) {
    const long index = long(copy.first.index[d]) + row % copy.map.box[d];
    if (index < 0 || index >= long(copy.map.extent[d])) return nullptr;
    place += copy.map.stride[d] * size_t(index);
  }
  return place;
}

/// The elements of rows that lie inside of the tensor.
struct Columns {
  long begin, end;
};
Columns columns_of(const BoxCopy& copy) {
  const long first = copy.first.index[0];
  return {std::max(first, 0L), std::min(first + copy.map.box[0], long(copy.map.extent[0]))};
}

void copy_rows(const BoxCopy& copy) {
  const auto [begin, end] = columns_of(copy);
  for (unsigned row = 0; row < rows_of(copy.map); ++row) {
    char line[kRowBytes] = {};  // elements outside the tensor are zero
    const char* from = source_row(copy, row);
    if (from != nullptr && begin < end)
      std::memcpy(line + 2 * size_t(begin - copy.first.index[0]), from + 2 * begin, 2 * size_t(end - begin));
    for (unsigned chunk = 0; chunk < kRowBytes / kSwizzledBytes; ++chunk)
      std::memcpy(copy.to + row * kRowBytes + ((chunk ^ (row & 7)) * kSwizzledBytes),
                  line + chunk * kSwizzledBytes, kSwizzledBytes);
  }
}

/// Visits the parts of the tensor's rows that the box covers.
template <class Visit>
void each_source_row(const BoxCopy& copy, Visit visit) {
  const auto [begin, end] = columns_of(copy);
  for (unsigned row = 0; row < rows_of(copy.map) && begin < end; ++row)
    if (const char* from = source_row(copy, row)) visit(from + 2 * begin, 2 * size_t(end - begin));
}

void end_source_reads(const BoxCopy& copy) {
  each_source_row(
      copy, [&](const char* row, size_t bytes) { end_copy_read(machine.threads[copy.issuer], row, bytes); });
}

void land_copies(void* address, Mbarrier& mbarrier) {
  std::vector<BoxCopy> others;
  for (const BoxCopy& copy : copies) {
    if (copy.mbarrier != address) {
      others.push_back(copy);
      continue;
    }
    copy_rows(copy);
    const size_t bytes = rows_of(copy.map) * kRowBytes;
    end_async_write(machine.threads[copy.issuer], copy.to, bytes, true);
    end_source_reads(copy);
    if (checks_on()) {
      mbarrier.arriving.resize(machine.threads.size(), 0);
      mbarrier.arriving[copy.issuer] =
          std::max(mbarrier.arriving[copy.issuer], step_of(machine.threads[copy.issuer]));
    }
    if (bytes > mbarrier.awaited_bytes)
      report_and_stop(Kind::BadOperand, "an mbarrier receives %zu bytes and expects %llu", bytes,
                      static_cast<unsigned long long>(mbarrier.awaited_bytes));
    mbarrier.awaited_bytes -= bytes;
  }
  copies = std::move(others);
  complete_phase(mbarrier);
}

/// Lets the other threads continue as far as they can without the running one.
void lag_behind() {
  constexpr int kMaxTurns = 10000;  // ends waiting for threads that lag, too
  int idle = 0;
  for (int turn = 0; idle < 3 && turn < kMaxTurns; ++turn) {
    // Counts as progress, so that no waiting thread reports a deadlock.
    const uint64_t seen = ++machine.progress;
    yield();
    idle = machine.progress == seen ? idle + 1 : 0;
  }
}

}  // namespace

void begin_block_mbarriers() {
  barriers.clear();
  for (const BoxCopy& copy : copies) end_source_reads(copy);
  copies.clear();
  copiers.clear();
}

void init_mbarrier(void* address, unsigned count) {
  if (address < shared_memory.low || address >= shared_memory.high ||
      reinterpret_cast<uintptr_t>(address) % 8 != 0)
    report_and_stop(Kind::BadOperand,
                    "thread %u: an mbarrier is 8 bytes of shared memory, at a multiple of 8", running().id);
  check_write(running(), address, 8);
  machine.only_barriers = false;
  const auto [place, is_new] = barriers.try_emplace(address);
  if (!is_new)
    report_and_stop(Kind::BadOperand, "thread %u initialises an mbarrier that is one", running().id);
  std::memcpy(address, &kMark, sizeof kMark);
  Mbarrier& mbarrier = place->second;
  mbarrier.count = mbarrier.pending = count;
  mbarrier.initialiser = running().id;
  mbarrier.fences = fences_of(running());
}

void fence_mbarriers() { ++running().mbarrier_fences; }

void arrive_mbarrier(void* address, unsigned expected_bytes) {
  Mbarrier& mbarrier = barrier_at(address, 0);
  check_read(running(), address, 8);
  mbarrier.awaited_bytes += expected_bytes;
  if (mbarrier.pending == 0)
    report_and_stop(Kind::BadOperand, "thread %u arrives at an mbarrier at which all %u have arrived",
                    running().id, mbarrier.count);
  release_to(&mbarrier.arriving);
  --mbarrier.pending;
  complete_phase(mbarrier);
}

void wait_mbarrier(void* address, unsigned parity, int line) {
  Thread& thread = running();
  Mbarrier& mbarrier = barrier_at(address, line);
  check_read(thread, address, 8);
  // In the other orders a copying thread runs ahead as far as possible; in this one it lags.
  if (machine.order == Order::Backward && copiers.contains(thread.id)) lag_behind();
  thread.waits_for = "an mbarrier";
  thread.line = line;
  // Between two turns of this thread every runnable thread has one: if none makes progress, none will.
  uint64_t seen = machine.progress;
  for (unsigned idle = 0; (mbarrier.phase & 1) == parity;) {
    land_copies(address, mbarrier);
    if ((mbarrier.phase & 1) != parity) break;
    yield();
    idle = machine.progress == seen ? idle + 1 : 0;
    seen = machine.progress;
    if (idle > 2)
      report_and_stop(Kind::Deadlock,
                      "thread %u waits in line %d for phase %u of an mbarrier, and no thread continues",
                      thread.id, line, parity);
  }
  acquire_from(mbarrier.completed);
}

void copy_box(void* shared, const TensorMap* map, unsigned rank, BoxPosition first, void* mbarrier,
              int line) {
  Thread& thread = running();
  if (shared_address(shared) % 1024 != 0 || size_t{map->box[0]} * 2 != kRowBytes)
    report_and_stop(Kind::BadOperand,
                    "the box of line %d: it must begin at a multiple of 1024 bytes of shared memory, and be "
                    "128 bytes wide",
                    line);
  if (map->rank != rank)
    report_and_stop(Kind::BadOperand, "the box of line %d: %u indices in a map of %u dimensions", line, rank,
                    map->rank);
  copiers.insert(thread.id);
  const Mbarrier& arrival = barrier_at(mbarrier, line);
  if (fences_of(machine.threads[arrival.initialiser]) == arrival.fences)
    report(Kind::MissingProxyFence,
           "the box of line %d arrives at an mbarrier that thread %u has initialised without a "
           "fence.mbarrier_init or fence.proxy.async after it",
           line, arrival.initialiser);
  begin_async_write(thread, shared, rows_of(*map) * kRowBytes);
  const BoxCopy copy{static_cast<char*>(shared), *map, first, mbarrier, thread.id, step_of(thread)};
  each_source_row(copy, [&](const char* row, size_t bytes) { begin_copy_read(thread, row, bytes, true); });
  copies.push_back(copy);
}

}  // namespace tunesmith_emulation
