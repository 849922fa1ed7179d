// The state of the emulated multiprocessor: one block at a time, its threads on fibers, all on one host
// thread.
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

/// A copy that was issued and has not arrived.
struct PendingCopy {
  char* to;
  const char* from;
  unsigned bytes, source_bytes;
};

/// A product of a warpgroup that was issued and is not formed.
struct PendingProduct {
  float* accumulators;
  unsigned long long a, b;
  unsigned columns;
  bool b_row_major, accumulate, bf16;
  int line;
};

/// Issued operations, oldest first, and how many of them each committed group has, oldest first.
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
  unsigned id = 0;  // its number in the block
  State state = State::Done;
  void* operand = nullptr;     // of the collective that it waits in
  unsigned completes = 0;      // lanes whose collective it does, the last of them having returned
  const char* waits_for = "";  // for messages, with the line
  int line = 0;
  unsigned proxy_fences = 0;     // how many fence.proxy.async it has executed
  unsigned mbarrier_fences = 0;  // and how many fence.mbarrier_init
  bool products_fenced = false;  // by a wgmma.fence since it could last access the sums of products
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
  std::vector<unsigned> next;  // the ring in which threads take turns
  unsigned first = 0;
  unsigned alive = 0;
  uint64_t progress = 0;  // counts what another thread may have waited for
  uint64_t switches = 0;
  bool only_barriers = true;     // of the block order its threads, so far
  Order order = Order::Forward;  // of the running block
  uint64_t random = 0;
  Fiber host;
  Thread* running = nullptr;
  const KernelEntry* kernel = nullptr;
  void* const* arguments = nullptr;
  char* stacks = nullptr;
  size_t stack_bytes = 0;  // of all
};

extern Machine machine;

inline Thread& running() { return *machine.running; }

/// splitmix64: the same numbers in each run.
uint64_t next_random();

/// The threads of a block, of the shape block_shape.
void make_threads();

/// Runs all blocks of the launch, each in an order of its own where the order is random; `in_turn`, each in
/// the order that comes after that of the block before. `arguments` is for KernelEntry::call.
void run_blocks(const KernelEntry& kernel, Order order, bool in_turn, uint64_t seed, void* const* arguments);

/// Lets the next thread of the ring continue that can; comes back when this one can, in its turn. Ends the
/// process when none can.
void yield();

/// The thread returns, and waits no more for what it has copied.
void abandon_copies(Thread& thread);

/// The running thread waits in `what`, at `line` of the kernel's text, until its state is Ready again.
void wait_in(const char* what, int line);

}  // namespace tunesmith_emulation
