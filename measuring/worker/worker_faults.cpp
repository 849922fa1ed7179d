#include "worker/worker_faults.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runner/exit_codes.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// A signal handler reads it: fixed memory, no locks.
std::array<const GuardedBuffer*, 256> g_watched{};
size_t g_watched_count = 0;
size_t g_memory_limit = 0;

/// A program that does not check malloc's result faults when memory is exhausted.
bool memory_is_exhausted() {
  if (g_memory_limit == 0) return false;
  const size_t probe = g_memory_limit / 16;
  void* mapping = mmap(nullptr, probe, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return true;
  munmap(mapping, probe);
  return false;
}

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  if (signal == SIGILL) _exit(kExitIllegalInstruction);
  if (signal == SIGSEGV || signal == SIGBUS) {
    for (size_t i = 0; i < g_watched_count; ++i) {
      if (g_watched[i]->owns(info->si_addr)) _exit(kExitOutOfBounds);
    }
    if (memory_is_exhausted()) _exit(kExitOutOfMemory);
  }
  _exit(kExitCrash);
}

}  // namespace

void install_fault_handlers() {
  static std::array<std::byte, 65536> stack;  // a candidate may have used up its own
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
  std::set_new_handler([] { _exit(kExitOutOfMemory); });
}

void provide_stack() {
  // The kernel's own stack, the poison before it, and the callers.
  constexpr rlim_t kNeeded = rlim_t{4} * 1024 * 1024;
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_cur < kNeeded) {
    const rlimit raised{kNeeded, std::max(limit.rlim_max, kNeeded)};  // only root can exceed the hard limit
    if (setrlimit(RLIMIT_STACK, &raised) != 0) {
      throw EnvironmentError(
          fmt::format("the stack is limited to {} KiB (`ulimit -Hs`), and checking a program needs {} KiB; "
                      "raise the limit",
                      limit.rlim_max / 1024, kNeeded / 1024));
    }
  }
  // New threads would still get the limit from the start of the process.
  pthread_attr_t attributes;
  pthread_getattr_default_np(&attributes);
  size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  if (bytes < kNeeded) {
    pthread_attr_setstacksize(&attributes, kNeeded);
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

void watch_for_faults(const GuardedBuffer& buffer) {
  check_invariant(g_watched_count < g_watched.size(), "a workload has fewer buffers than can be watched");
  g_watched[g_watched_count++] = &buffer;
}

void unwatch(const GuardedBuffer& buffer) {
  const auto end = g_watched.begin() + static_cast<std::ptrdiff_t>(g_watched_count);
  const auto found = std::find(g_watched.begin(), end, &buffer);
  if (found == end) return;
  *found = *(end - 1);
  --g_watched_count;
}

void limit_memory(int64_t bytes) {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  const auto total = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
  const rlimit limit{total, total};
  setrlimit(RLIMIT_AS, &limit);
  g_memory_limit = static_cast<size_t>(bytes);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

}  // namespace tunesmith
