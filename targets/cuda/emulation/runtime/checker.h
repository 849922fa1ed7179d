// Checks each access of the instrumented kernel and of emulated instructions for races, reads of data that
// was never written or has not arrived, and accesses out of bounds.
//
// Two accesses of one cell by two threads of a block, at least one a write and not both atomic, race unless a
// barrier of the block is between them, or __syncwarp or an mbarrier orders them (by vector clocks). Two
// blocks are never ordered. A cell is as large as the smallest access to its memory; a smaller access ends
// the process, which is run again with finer cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.h"

namespace tunesmith_emulation {

/// All shared variables of the program. Those sized by the launch
/// begin at `dynamic`, where `dynamic_reserve` bytes are reserved.
struct SharedMemory {
  char* low = nullptr;
  char* high = nullptr;
  char* dynamic = nullptr;
  size_t dynamic_bytes = 0;
  size_t dynamic_reserve = 0;
};
extern SharedMemory shared_memory;

/// Finds the program's shared variables.
void find_shared_memory(size_t dynamic_bytes);

/// Starts checking accesses; threads and buffers must be known.
/// A granule is the size of a cell in bytes: 16, 8, 4, 2 or 1.
void start_checks(unsigned shared_granule, unsigned global_granule);
bool checks_on();

/// A buffer of the launch, 16-byte aligned. Registered even when accesses are not checked, for messages.
void watch_buffer(const std::string& name, char* low, size_t bytes);
/// Are all of the bytes in the segment of shared variables?
bool is_shared(const void* address, size_t bytes);
constexpr unsigned kNobody = ~0u;
/// The thread whose stack contains the address, or kNobody. Called for each access to a thread's own arrays.
inline unsigned stack_owner(const void* address) {
  const size_t offset = size_t(static_cast<const char*>(address) - machine.stacks);
  return offset < machine.stack_bytes ? unsigned(offset / kStackBytes) : kNobody;
}
/// Describes an address: "byte 12 of A (4096 bytes)".
void describe_address(const void* address, char* text, size_t bytes);

void begin_block_checks();
void next_barrier_interval();
/// The lanes of a warp have met at __syncwarp: each now knows the steps of all of them.
void order_lanes(unsigned first_thread, unsigned lanes);

/// A vector clock: for each other thread, the last of its steps that this thread is ordered after.
using Clock = std::vector<uint32_t>;
/// Merges the running thread's clock into `clock`; the thread then begins a new step.
void release_to(Clock* clock);
void acquire_from(const Clock& clock);
uint32_t step_of(const Thread& thread);

void check_read(const Thread& thread, const void* address, size_t bytes);
void check_write(const Thread& thread, const void* address, size_t bytes);
/// An atomic update by the running thread; `reads`: the old value is used.
void check_atomic(const void* address, size_t bytes, bool reads);
/// A read by the running thread through the read-only path
/// (ld.global.nc); called in addition to check_read().
void check_read_only(const void* address, size_t bytes, int line);

/// An asynchronous write of shared memory begins, and arrives.
/// `asynchronous_proxy`: it needs no fence before wgmma.
void begin_async_write(const Thread& thread, void* address, size_t bytes);
void end_async_write(const Thread& thread, void* address, size_t bytes, bool asynchronous_proxy);
/// wgmma reads shared memory from its issue until the wait for it.
void begin_async_read(const Thread& thread, const void* address, size_t bytes);
void end_async_read(const Thread& thread, const void* address, size_t bytes);

/// An asynchronous copy reads global memory from its issue until the wait for it.
/// `asynchronous_proxy`: it does not see the kernel's writes without a fence.
void begin_copy_read(const Thread& thread, const void* address, size_t bytes, bool asynchronous_proxy);
void end_copy_read(const Thread& thread, const void* address, size_t bytes);

void report_accesses();

}  // namespace tunesmith_emulation
