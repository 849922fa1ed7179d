// The kernels of the target `faulty`: O[i] = X[i] + 1, and what each mistake does beside or instead.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <tunesmith/target/kernel_abi.h>

#include "helper_thread.h"
#include "mistakes.h"
#include "process_changes.h"

namespace tunesmith::test {

inline constexpr int64_t kWorkspaceBytes = 64;

inline int64_t g_elements = 0;        // of the workload; one at a time
inline std::atomic<int> g_varied{0};  // calls of the kernel that varies
inline bool g_broken = false;         // by a kernel that was run before
inline bool g_spoilt = false;         // likewise: later results are wrong
inline char* volatile g_leak = nullptr;

/// The address of a wild write; volatile, so that the compiler does not know it.
inline volatile intptr_t g_wild = 16;

[[gnu::noinline]] inline int overflow_stack(int depth) {
  if (depth < g_wild) return 0;  // never, since depth begins above g_wild
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return overflow_stack(depth + 1) + frame[0];
}

inline void add_one(const float* x, float* o, int64_t count) {
  for (int64_t i = 0; i < count; ++i) o[i] = x[i] + 1.0f;
}

inline void run_reference(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  const auto* x = static_cast<const double*>(buffers[0]);
  auto* value = static_cast<double*>(buffers[1]);
  auto* bound = static_cast<double*>(buffers[2]);
  for (int64_t i = 0; i < g_elements; ++i) {
    value[i] = x[i] + 1.0;
    bound[i] = 1e-4;
  }
}

inline void run_peak(void* const*, void*, tunesmith_parallel_for, void*) {
  volatile float sum = 0.0f;
  for (int i = 0; i < 100'000; ++i) sum = sum + 1.0f;
}

inline void allocate_without_end(void* (*allocate)(size_t)) {
  for (constexpr size_t kBytes = size_t{1} << 20;;) {
    auto* bytes = static_cast<volatile char*>(allocate(kBytes));
    bytes[0] = 1;  // touches one page only: the address space is limited, not the memory
  }
}

/// Shared by all calls. Two may run at once, each on its own data.
inline std::atomic<int> g_calls{0};
inline std::atomic<const void*> g_last_output{nullptr};
inline std::mutex g_keeping;
inline std::map<const float*, std::vector<float>> g_kept_inputs;

inline const float* kept(const float* x, int64_t count) {
  const std::scoped_lock lock(g_keeping);
  return g_kept_inputs.try_emplace(x, x, x + count).first->second.data();
}

/// A correct kernel for a device that runs one call at a time: results are wrong if two calls overlap, for
/// which each waits.
inline void run_one_at_a_time(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  static std::atomic<int> running{0};
  constexpr std::chrono::milliseconds kWait{5};
  auto* o = static_cast<float*>(buffers[1]);
  bool alone = ++running == 1;
  for (const auto end = std::chrono::steady_clock::now() + kWait;
       alone && std::chrono::steady_clock::now() < end;)
    alone = running == 1;
  add_one(static_cast<const float*>(buffers[0]), o, alone ? g_elements : g_elements / 2);
  --running;
}

/// Correct unless two calls overlap, for which it leaves time even on a busy machine.
inline void add_one_by_scratch(const float* x, float* o, int64_t count) {
  static std::atomic<float> scratch{0.0f};
  scratch = x[0];
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  add_one(x, o, count);
  o[0] = scratch + 1.0f;
}

/// The maximum number of resources, so that a worker's memory is not exhausted first.
inline constexpr int kMaxMade = 60;

/// Returns before the second half is written.
inline void add_half_elsewhere(const float* x, float* o, int64_t count) {
  Helper::one().begin([=] { add_one(x + count / 2, o + count / 2, count - count / 2); });
}

inline std::atomic<float*> g_written_late{nullptr};
inline std::atomic<float> g_late_value{0.0f};

/// Writes values that were correct, but too late.
inline void write_again_late(const float* x, float* o) {
  g_late_value = x[0] + 1.0f;
  g_written_late = o;
  if (Helper::one().busy()) return;
  Helper::one().begin([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      *static_cast<volatile float*>(g_written_late.load()) = g_late_value;
    }
  });
}

/// Writes wrong numbers, or to memory that is not the kernel's.
template <Mistake mistake>
void touch_wrongly(float* x, float* o, void* workspace) {
  const int64_t n = g_elements;
  auto* const space = static_cast<volatile char*>(workspace);
  switch (mistake) {
    case Mistake::WrongResult:
      o[n / 2] += 0.01f;
      break;
    case Mistake::VariesFromRunToRun:
      o[n / 2] += 2e-6f * static_cast<float>(++g_varied);  // within the bound at first
      break;
    case Mistake::WritesBeyond:
      static_cast<volatile float*>(o)[n] = 1.0f;
      break;
    case Mistake::WritesBefore:
      static_cast<volatile float*>(o)[-1] = 1.0f;
      break;
    case Mistake::ReadsBeyond:
      o[0] += 0.0f * static_cast<volatile float*>(x)[n];
      break;
    case Mistake::WritesInput:
      static_cast<volatile float*>(x)[0] = 1.0f;
      break;
    case Mistake::WritesBeyondWorkspace:
      space[kWorkspaceBytes] = 1;
      break;
    case Mistake::WritesBeforeWorkspace:
      space[-1] = 1;
      break;
    default:
      break;
  }
}

/// Ends the process, or hangs.
template <Mistake mistake>
void break_down(float* o, tunesmith_parallel_for parallel_for, void* pool) {
  auto* const wild = reinterpret_cast<volatile int*>(g_wild);
  switch (mistake) {
    case Mistake::Segfaults:
      *wild = 1;
      break;
    case Mistake::SegfaultsInThread:
      parallel_for(
          pool, 64, [](void*, int64_t, int64_t) { *reinterpret_cast<volatile int*>(g_wild) = 1; }, nullptr);
      break;
    case Mistake::OverflowsStack:
      o[0] += 0.0f * static_cast<float>(overflow_stack(17));
      break;
    case Mistake::DividesByZero: {
      const volatile int zero = 0;
      o[0] += 0.0f * static_cast<float>(g_wild / zero);
      break;
    }
    case Mistake::Aborts:
      std::abort();
    case Mistake::Throws:
      throw std::runtime_error("boom in the kernel");
    case Mistake::IllegalInstruction:
      __builtin_trap();
    case Mistake::Endless:
      for (volatile bool go = true; go;) {
      }
      break;
    case Mistake::StopsItself:
      raise(SIGSTOP);
      break;
    default:
      break;
  }
}

/// Takes what the worker needs: its memory, its socket, its life.
template <Mistake mistake>
void harm_the_worker(tunesmith_parallel_for parallel_for, void* pool) {
  switch (mistake) {
    case Mistake::AllocatesByNew:
      allocate_without_end([](size_t bytes) { return ::operator new(bytes); });
      break;
    case Mistake::AllocatesByMalloc:
      allocate_without_end(std::malloc);
      break;
    case Mistake::Exits:
      _exit(0);
    case Mistake::ExitsInThreads:
      std::atexit(std::abort);  // a handler at exit may fail beside other threads
      parallel_for(pool, 64, [](void*, int64_t, int64_t) { std::exit(0); }, nullptr);
      break;
    case Mistake::KillsItself:
      raise(SIGKILL);
      break;
    case Mistake::WritesToTheSocket: {
      const std::string nonsense(4096, '\xff');
      if (write(3, nonsense.data(), nonsense.size()) < 0) std::abort();
      break;
    }
    case Mistake::ClosesTheSocket:
      close(3);
      raise(SIGSTOP);
      break;
    default:
      break;
  }
}

/// Goes wrong in a later call, or after one; `number` is 1 for the first.
template <Mistake mistake>
void misbehave_later(int number, float* x, float* o, void* workspace) {
  const int64_t n = g_elements;
  auto* const space = static_cast<volatile char*>(workspace);
  switch (mistake) {
    case Mistake::WritesAgainLate:
      write_again_late(x, o);
      break;
    case Mistake::WritesBeyondLater:
      if (number >= 4) static_cast<volatile float*>(o)[n] = 1.0f;
      break;
    case Mistake::WritesBeyondWorkspaceLater:
      if (number >= 4) space[-1] = 1;
      break;
    case Mistake::LeavesAThreadRunning:
      if (number == 1) run_for_ever();
      break;
    case Mistake::StartsAThreadEachCall:
      if (number <= kMaxMade) sleep_for_ever();
      break;
    case Mistake::KeepsAPool:
      if (number == 1) sleep_for_ever();
      break;
    default:
      break;
  }
}

/// Leaves the process or its threads in another state.
template <Mistake mistake>
void change_state(int number, tunesmith_parallel_for parallel_for, void* pool) {
  switch (mistake) {
    case Mistake::BlocksSignals:
      block_termination();
      break;
    case Mistake::BlocksSignalsInThePool:
      if (pool != nullptr) {
        BlockedInThePool blocked;
        parallel_for(pool, 64, BlockedInThePool::chunk, &blocked);
      }
      break;
    case Mistake::HandlesFaults:
      std::signal(SIGSEGV, SIG_DFL);
      break;
    case Mistake::OpensAFileEachCall:
      if (number <= kMaxMade) static_cast<void>(open("/dev/null", O_RDONLY));
      break;
    case Mistake::OpensAFileOnce:
      if (number == 1) static_cast<void>(open("/dev/null", O_RDONLY));
      break;
    case Mistake::ClosesAFile:
      if (number == 1) close_some_file();
      break;
    case Mistake::RoundsUp:
      round_up(nullptr, 0, 1);
      break;
    case Mistake::RoundsUpInThread:
      parallel_for(pool, 64, round_up, nullptr);
      break;
#if defined(__x86_64__)
    case Mistake::FlushesSubnormals:
      change_vector_control(0x8040);
      break;
    case Mistake::Traps:
      change_vector_control(0x80);  // of invalid operations
      break;
    case Mistake::LeavesTheOldUnitInUse:
      asm volatile("movq %%rsp, %%mm0" : : :);
      break;
    case Mistake::LowersPrecision:
      lower_precision();
      break;
#endif
    case Mistake::Prints:
      std::puts("a candidate prints");
      std::fflush(stdout);
      break;
    default:
      break;
  }
}

/// The duration of a correct kernel: long enough for every wrong one to be the best even on a loaded machine,
/// since some checks concern only programs that may be the best.
inline constexpr std::chrono::microseconds kRightTime{50};

inline void wait_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Always correct, but computes only if the inputs differ from the last call's.
inline void keep_result(const float* x, float* o, int64_t n) {
  static std::vector<float> inputs, result;
  if (!std::equal(x, x + n, inputs.begin(), inputs.end())) {
    wait_for(kRightTime);
    inputs.assign(x, x + n);
    result.resize(static_cast<size_t>(n));
    add_one(x, result.data(), n);
  }
  std::copy(result.begin(), result.end(), o);
}

template <Mistake mistake>
void run(void* const* buffers, void* workspace, tunesmith_parallel_for parallel_for, void* pool) {
  auto* x = static_cast<float*>(buffers[0]);
  auto* o = static_cast<float*>(buffers[1]);
  const int64_t n = g_elements;
  if (g_broken) std::abort();
  if (g_spoilt) return;
  if (mistake == Mistake::KeepsResultsByContents) return keep_result(x, o, n);
  if (mistake == Mistake::SkipsWhatIsDone && o[0] == x[0] + 1.0f && o[n - 1] == x[n - 1] + 1.0f) return;
  const int number = ++g_calls;
  if (kMistakes[static_cast<size_t>(mistake)].cause.empty()) wait_for(kRightTime);
  const bool same_pointers = g_last_output.exchange(o) == o;
  if (mistake == Mistake::SkipsTheSamePointers && same_pointers) return;
  if (mistake == Mistake::StopsWriting && number > 4) return;
  if (mistake == Mistake::KeepsAnInputByAddress ||
      (mistake == Mistake::KeepsAnInputAfterFourCalls && number > 4))
    return add_one(kept(x, n), o, n);
  if (mistake == Mistake::ReturnsTooEarly) {
    add_half_elsewhere(x, o, n);
    return add_one(x, o, n / 2);
  }
  if (mistake == Mistake::SharesItsScratch) return add_one_by_scratch(x, o, n);
  add_one(x, o, mistake == Mistake::LeavesOneOut ? n - 1 : n);
  if (has_preparation(mistake)) {
    auto* prepared = static_cast<float*>(buffers[2]);
    for (int64_t i = 0; i < n; ++i) o[i] = x[i] + prepared[0];
    if (mistake == Mistake::WritesPrepared) prepared[1] = 1.0f;
  }
  touch_wrongly<mistake>(x, o, workspace);
  break_down<mistake>(o, parallel_for, pool);
  harm_the_worker<mistake>(parallel_for, pool);
  misbehave_later<mistake>(number, x, o, workspace);
  change_state<mistake>(number, parallel_for, pool);
}

template <Mistake mistake>
void prepare(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  auto* prepared = static_cast<volatile float*>(buffers[2]);
  if (mistake != Mistake::ForgetsToPrepare) prepared[0] = 1.0f;
  if (mistake == Mistake::PreparesBeyond) prepared[kPreparedNumbers] = 1.0f;
  if (mistake == Mistake::PreparesAnOutput) static_cast<volatile float*>(buffers[1])[0] = 1.0f;
}

}  // namespace tunesmith::test
