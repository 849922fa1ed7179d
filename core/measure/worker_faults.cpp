#include "measure/worker_faults.h"

#include <array>
#include <fstream>
#include <new>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "measure/exit_codes.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// Read by a signal handler: fixed memory, no locks.
std::array<const GuardedBuffer*, 256> g_watched{};
size_t g_watched_count = 0;

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  if (signal == SIGILL) _exit(kExitIllegalInstruction);
  if (signal == SIGSEGV || signal == SIGBUS) {
    for (size_t i = 0; i < g_watched_count; ++i) {
      if (g_watched[i]->owns(info->si_addr)) _exit(kExitOutOfBounds);
    }
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

void watch_for_faults(const GuardedBuffer& buffer) {
  check_invariant(g_watched_count < g_watched.size(), "a workload has fewer buffers than can be watched");
  g_watched[g_watched_count++] = &buffer;
}

void limit_memory(int64_t bytes) {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages;
  const auto total = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
  const rlimit limit{total, total};
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace tunesmith
