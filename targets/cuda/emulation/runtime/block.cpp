// Runs blocks one after another, schedules threads, and implements the block's barrier.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "checker.h"
#include "collective.h"
#include "findings.h"
#include "group_barrier.h"
#include "machine.h"
#include "mbarrier.h"
#include "registers.h"

namespace tunesmith_emulation {

Machine machine;
const Index* thread_index = nullptr;
Index block_index, block_shape, grid_shape;

namespace {

struct Barrier {
  unsigned arrived = 0;
  const void* site = nullptr;
  int line = 0;
} barrier;

[[noreturn]] void report_deadlock() {
  std::map<std::pair<int, std::string>, unsigned> waiting;
  for (const Thread& thread : machine.threads)
    if (thread.state == State::Waiting) ++waiting[{thread.line, thread.waits_for}];
  std::string text;
  for (const auto& [place, count] : waiting) {
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " in " + place.second + " of line " + std::to_string(place.first);
  }
  report_and_stop(Kind::Deadlock, "block (%u, %u, %u): no thread can continue: %s", block_index.x,
                  block_index.y, block_index.z, text.c_str());
}

void end_thread() {
  Thread& thread = running();
  thread.state = State::Done;
  abandon_copies(thread);
  thread.products.clear();
  --machine.alive;
  ++machine.progress;
  if (barrier.arrived > 0) {
    report_and_stop(Kind::ThreadLeft,
                    "thread %u returned while %u threads wait in the __syncthreads of line %d", thread.id,
                    barrier.arrived, barrier.line);
  }
  thread_left_warp(thread);
  yield();
}

// Fibers are created once and reused for each block, since creation needs system calls.
void run_thread() {
  for (;;) {
    machine.kernel->call(machine.arguments);
    end_thread();
  }
}

void order_threads() {
  const unsigned count = unsigned(machine.threads.size());
  std::vector<unsigned> turns(count);
  std::iota(turns.begin(), turns.end(), 0u);
  if (machine.order == Order::Backward) std::reverse(turns.begin(), turns.end());
  if (machine.order == Order::Random)
    for (unsigned i = count - 1; i > 0; --i) std::swap(turns[i], turns[next_random() % (i + 1)]);
  machine.next.resize(count);
  for (unsigned i = 0; i < count; ++i) machine.next[turns[i]] = turns[(i + 1) % count];
  machine.first = turns[0];
}

Order next_order(Order order) {
  return order == Order::Forward    ? Order::Backward
         : order == Order::Backward ? Order::Random
                                    : Order::Forward;
}

void run_block() {
  order_threads();
  for (Thread& thread : machine.threads) {
    thread.state = State::Ready;
    thread.proxy_fences = thread.mbarrier_fences = 0;
    thread.products_fenced = false;
  }
  machine.alive = unsigned(machine.threads.size());
  begin_block_collectives();
  begin_block_mbarriers();
  begin_block_group_barriers();
  begin_block_registers();
  begin_block_checks();
  Thread& first = machine.threads[machine.first];
  machine.running = &first;
  thread_index = &first.index;
  Fiber::switch_to(machine.host, first.fiber);
}

}  // namespace

uint64_t next_random() {
  uint64_t value = machine.random += 0x9e3779b97f4a7c15ULL;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
  return value ^ value >> 31;
}

void yield() {
  Thread& thread = running();
  const unsigned count = unsigned(machine.threads.size());
  unsigned id = thread.id;
  for (unsigned i = 0; i < count; ++i) {
    id = machine.next[id];
    Thread& other = machine.threads[id];
    if (other.state != State::Ready) continue;
    if (&other == &thread) return;
    ++machine.switches;
    machine.running = &other;
    thread_index = &other.index;
    Fiber::switch_to(thread.fiber, other.fiber);
    return;
  }
  if (machine.alive > 0) report_deadlock();
  Fiber::switch_to(thread.fiber, machine.host);
}

void wait_in(const char* what, int line) {
  Thread& thread = running();
  thread.state = State::Waiting;
  thread.waits_for = what;
  thread.line = line;
  yield();
}

void block_barrier(const void* site, int line) {
  const unsigned count = unsigned(machine.threads.size());
  if (barrier.arrived > 0 && barrier.site != site) {
    report_and_stop(Kind::DivergentBarrier,
                    "thread %u is in the __syncthreads of line %d while %u threads wait in that of line %d",
                    running().id, line, barrier.arrived, barrier.line);
  }
  if (machine.alive < count) {
    report_and_stop(Kind::ThreadLeft,
                    "thread %u is in the __syncthreads of line %d, and %u threads of the block have returned",
                    running().id, line, count - machine.alive);
  }
  barrier.site = site;
  barrier.line = line;
  if (++barrier.arrived < count) {
    wait_in("__syncthreads", line);
    return;
  }
  barrier.arrived = 0;
  ++machine.progress;
  next_barrier_interval();
  for (Thread& thread : machine.threads) thread.state = State::Ready;
  yield();
}

void make_threads() {
  const unsigned count = block_shape.x * block_shape.y * block_shape.z;
  machine.threads.resize(count);
  machine.stacks = static_cast<char*>(mmap(nullptr, kStackBytes * count, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (machine.stacks == MAP_FAILED)
    report_and_stop(Kind::BadLaunch, "no memory for the stacks of %u threads", count);
  machine.stack_bytes = kStackBytes * count;
  for (unsigned id = 0; id < count; ++id) {
    Thread& thread = machine.threads[id];
    thread.id = id;
    thread.index = {id % block_shape.x, id / block_shape.x % block_shape.y,
                    id / block_shape.x / block_shape.y};
    thread.fiber.prepare(machine.stacks + id * kStackBytes, kStackBytes, run_thread);
  }
}

void run_blocks(const KernelEntry& kernel, Order order, bool in_turn, uint64_t seed, void* const* arguments) {
  machine.kernel = &kernel;
  machine.order = order;
  machine.random = seed;
  machine.arguments = arguments;
  for (block_index.z = 0; block_index.z < grid_shape.z; ++block_index.z)
    for (block_index.y = 0; block_index.y < grid_shape.y; ++block_index.y)
      for (block_index.x = 0; block_index.x < grid_shape.x; ++block_index.x) {
        run_block();
        if (in_turn) machine.order = next_order(machine.order);
      }
}

}  // namespace tunesmith_emulation
