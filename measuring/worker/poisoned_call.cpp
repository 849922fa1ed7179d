#include "worker/poisoned_call.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "tunesmith/support/monotonic_clock.h"
#include "worker/watched_call.h"

namespace tunesmith {
namespace {

constexpr size_t kStackBytes = size_t{768} * 1024;  // more than a kernel may use (LowerOptions)
/// For a pool thread to wake up on a busy machine; on a quiet one it takes microseconds.
constexpr auto kPoisonPatience = std::chrono::milliseconds(20);

struct StackPoison {
  int threads;
  int value;
  std::atomic<int> reached{0};
};

/// Unwritten stack memory of a kernel then reads as `value`.
[[gnu::noinline]] void poison_stack(void* closure, int64_t /*begin*/, int64_t /*end*/) {
  auto& poison = *static_cast<StackPoison*>(closure);
  std::array<std::byte, kStackBytes> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::memset(stack.data(), poison.value, stack.size());
  asm volatile("" : : "r"(stack.data()) : "memory");
  // The others get the time to wake and take a part of their own.
  ++poison.reached;
  const auto begin = std::chrono::steady_clock::now();
  while (poison.reached.load() < poison.threads && std::chrono::steady_clock::now() - begin < kPoisonPatience)
    std::this_thread::yield();
}

void poison_stacks(tunesmith_runtime_pool* pool, std::byte value) {
  StackPoison poison{pool == nullptr ? 1 : tunesmith_runtime_pool_threads(pool), std::to_integer<int>(value)};
  tunesmith_runtime_parallel_for(pool, poison.threads, poison_stack, &poison);
}

/// Uninitialised registers of a kernel then read as `value`. The
/// lower half of the registers suffices: a kernel uses these first.
[[gnu::always_inline]] inline void poison_registers(std::byte value) {
#if defined(__x86_64__)
  const uint32_t pattern = 0x01010101U * std::to_integer<uint32_t>(value);
  asm volatile(
      "movd %0, %%xmm0\n\tpshufd $0, %%xmm0, %%xmm0\n\t"
      "movaps %%xmm0, %%xmm1\n\tmovaps %%xmm0, %%xmm2\n\tmovaps %%xmm0, %%xmm3\n\t"
      "movaps %%xmm0, %%xmm4\n\tmovaps %%xmm0, %%xmm5\n\tmovaps %%xmm0, %%xmm6\n\t"
      "movaps %%xmm0, %%xmm7\n\tmovaps %%xmm0, %%xmm8\n\tmovaps %%xmm0, %%xmm9\n\t"
      "movaps %%xmm0, %%xmm10\n\tmovaps %%xmm0, %%xmm11\n\tmovaps %%xmm0, %%xmm12\n\t"
      "movaps %%xmm0, %%xmm13\n\tmovaps %%xmm0, %%xmm14\n\tmovaps %%xmm0, %%xmm15"
      :
      : "r"(pattern)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15");
#else
  static_cast<void>(value);
#endif
}

/// For the kernel that the thread calls: its callback has no room for it.
thread_local std::byte registers_poison{};

struct PoisonedBody {
  tunesmith_loop_body body;
  void* closure;
  std::byte poison;
};

/// The parts of the caller's state that calls on any thread have changed.
std::atomic<uint32_t> g_changed = 0;

uintptr_t word(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

void run_poisoned(void* closure, int64_t begin, int64_t end) {
  const auto& poisoned = *static_cast<PoisonedBody*>(closure);
  poison_registers(poisoned.poison);
  g_changed |= watched_call(reinterpret_cast<void (*)()>(poisoned.body), word(poisoned.closure),
                            static_cast<uintptr_t>(begin), static_cast<uintptr_t>(end), 0);
}

[[gnu::noinline]] void poisoned_parallel_for(void* pool, int64_t count, tunesmith_loop_body body,
                                             void* closure) {
  // Two words are below the boundary: the return address and the frame pointer.
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 16 != 0) g_changed |= kUnalignedStack;
  PoisonedBody poisoned{body, closure, registers_poison};
  tunesmith_runtime_parallel_for(pool, count, run_poisoned, &poisoned);
}

/// Calls from so far down the stack that the kernel's frame is in the range
/// that poison_stack() filled: its own frame is below those of the pool.
[[gnu::noinline]] double time_from_below(const KernelCall& call, std::byte poison) {
  std::array<std::byte, 4096> above;
  asm volatile("" : : "r"(above.data()) : "memory");
  registers_poison = poison;
  const double begin = now_seconds();
  poison_registers(poison);
  g_changed |= watched_call(reinterpret_cast<void (*)()>(call.entry),
                            word(static_cast<const void*>(call.pointers.data())), word(call.workspace),
                            reinterpret_cast<uintptr_t>(&poisoned_parallel_for), word(call.pool));
  const double seconds = now_seconds() - begin;
  asm volatile("" : : "r"(above.data()) : "memory");
  return seconds;
}

}  // namespace

std::optional<std::string> take_caller_state_change() {
  const uint32_t changed = g_changed.exchange(0);
  return changed == 0 ? std::nullopt : std::optional(caller_state_changed(changed));
}

double time_poisoned(const KernelCall& call, std::byte poison) {
  poison_stacks(call.pool, poison);
  return time_from_below(call, poison);
}

}  // namespace tunesmith
