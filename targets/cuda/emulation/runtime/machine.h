// The state of the emulated multiprocessor: one block at
// a time, its threads run as fibers on one host thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../device/emulation_abi.h"
#include "fiber.h"

namespace tunesmith_emulation {

constexpr unsigned kWarp = 32;
constexpr unsigned kWarpgroup = 128;
constexpr unsigned kMaxThreads = 1024;
constexpr size_t kStackBytes = size_t(64) << 10;

enum class State : uint8_t { Ready, Waiting, Done };

/// A copy that was issued and has not arrived yet.
struct PendingCopy {
  char* to;
  const char* from;
  unsigned bytes, source_bytes;
};

/// A warpgroup product that was issued and is not computed yet.
struct PendingProduct {
  float* accumulators;
  unsigned long long a, b;
  unsigned columns;
  bool a_column_major, b_row_major, accumulate, bf16;
  int line;
};

/// Issued operations, oldest first, and the number of operations in each committed group, oldest first.
template <class Operation>
struct Groups {
  std::vector<Operation> issued;
  std::vector<size_t> committed;
  size_t uncommitted = 0;

  void issue(const Operation& operation) {
    issued.push_back(operation);
    ++uncommitted;
  }
  size_t commit() {
    committed.push_back(uncommitted);
    uncommitted = 0;
    return committed.back();
  }
  /// Calls `finish` for the operations of all but the newest `left` groups.
  template <class Finish>
  void wait(size_t left, Finish finish) {
    while (committed.size() > left) {
      const size_t count = committed.front();
      for (size_t i = 0; i < count; ++i) finish(issued[i]);
      issued.erase(issued.begin(), issued.begin() + std::ptrdiff_t(count));
      committed.erase(committed.begin());
    }
  }
  void clear() {
    issued.clear();
    committed.clear();
    uncommitted = 0;
  }
};

struct Thread {
  Index index;
  unsigned id = 0;  // its index in the block
  State state = State::Done;
  void* operand = nullptr;     // of the collective operation it waits in
  unsigned completes = 0;      // lanes whose collective it completes after the last returned
  const char* waits_for = "";  // for messages, with the line
  int line = 0;
  unsigned proxy_fences = 0;     // number of fence.proxy.async executed
  unsigned mbarrier_fences = 0;  // number of fence.mbarrier_init executed
  bool products_fenced = false;  // a wgmma.fence came after its last access to the accumulators
  Fiber fiber;
  Groups<PendingCopy> copies;
  Groups<PendingProduct> products;

  unsigned warp() const { return id / kWarp; }
  unsigned lane() const { return id % kWarp; }
};

enum class Order : uint8_t { Forward, Backward, Random };

/// Threads and blocks of the running launch.
struct Machine {
  std::vector<Thread> threads;
  std::vector<unsigned> next;  // ring in which threads take turns
  unsigned first = 0;
  unsigned alive = 0;
  uint64_t progress = 0;  // incremented at each event another thread may wait for
  uint64_t switches = 0;
  bool only_barriers = true;     // so far, threads of the block are ordered by nothing else
  Order order = Order::Forward;  // of the running block
  uint64_t random = 0;
  Fiber host;
  Thread* running = nullptr;
  const KernelEntry* kernel = nullptr;
  void* const* arguments = nullptr;
  char* stacks = nullptr;
  size_t stack_bytes = 0;  // of all fibers
};

extern Machine machine;

inline Thread& running() { return *machine.running; }

/// splitmix64: the same numbers in every run.
uint64_t next_random();

/// The threads of a block, of the shape block_shape.
void make_threads();

/// Runs all blocks of the launch. With random order, each block has its own order; with
/// `in_turn`, the orders cycle from block to block. `arguments` is for KernelEntry::call.
void run_blocks(const KernelEntry& kernel, Order order, bool in_turn, uint64_t seed, void* const* arguments);

/// Switches to the next thread of the ring that can continue; returns when it is
/// this thread's turn and it can continue. Ends the process when no thread can.
void yield();

/// The thread returns; its pending copies are no longer waited for.
void abandon_copies(Thread& thread);

/// The running thread waits in `what`, at `line` of the kernel text, until its state is Ready again.
void wait_in(const char* what, int line);

}  // namespace tunesmith_emulation
