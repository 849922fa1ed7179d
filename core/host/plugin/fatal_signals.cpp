#include "plugin/fatal_signals.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include <signal.h>
#include <unistd.h>

namespace tunesmith {
namespace {

struct FatalSignal {
  int number;
  const char* name;
  struct sigaction before;
};
// Fixed memory: a signal handler reads it.
std::array<FatalSignal, 5> g_signals{{{SIGSEGV, "Segmentation fault", {}},
                                      {SIGBUS, "Bus error", {}},
                                      {SIGILL, "Illegal instruction", {}},
                                      {SIGFPE, "Floating point exception", {}},
                                      {SIGABRT, "Aborted", {}}}};
void (*g_tell)(const char* signal) = nullptr;
std::atomic<pid_t> g_telling = 0;  // the thread that handles the signal; 0: none yet

void on_fatal_signal(int number, siginfo_t* info, void* /*context*/) {
  // Plugins run on several threads: the first that faults reports and ends the process.
  pid_t telling = 0;
  const pid_t self = gettid();
  if (!g_telling.compare_exchange_strong(telling, self) && telling != self) {
    for (;;) pause();
  }
  for (const FatalSignal& one : g_signals) {
    if (one.number == number && telling != self) g_tell(one.name);
  }
  // Restores the previous handlers for further signals.
  for (const FatalSignal& one : g_signals) sigaction(one.number, &one.before, nullptr);
  // A faulting instruction faults again on return; a signal that was sent does not recur.
  if (info->si_code <= 0 || number == SIGABRT) raise(number);
}

/// A thread's signal stack, which lives as long as the thread.
class SignalStack {
 public:
  SignalStack() {
    stack_t stack{};
    stack.ss_sp = memory_.data();
    stack.ss_size = memory_.size();
    stack_t before{};
    // Sanitizers may have installed one already.
    if (sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0)
      mine_ = sigaltstack(&stack, nullptr) == 0;
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (mine_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(size_t{64} * 1024);
  bool mine_ = false;
};

}  // namespace

void name_plugin_at_fatal_signals(void (*tell)(const char* signal)) {
  g_tell = tell;
  struct sigaction action{};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (FatalSignal& one : g_signals) sigaction(one.number, &action, &one.before);
}

void prepare_thread_for_fatal_signals() { static thread_local const SignalStack stack; }

}  // namespace tunesmith
