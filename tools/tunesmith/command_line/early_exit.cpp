#include "early_exit.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/exit_codes.h"
#include "tunesmith/plugin/watch.h"

namespace tunesmith::cli {
namespace {

// Only the process with this id is watched: a forked child may end in any way.
std::atomic<pid_t> g_watched = 0;

std::atomic<bool> g_telling = false;

/// Reports the end and returns the exit code. When threads end the process at the same time, the first
/// reports and the others wait.
int told(int code, const char* function) {
  if (g_watched != getpid()) return code;
  while (g_telling.exchange(true)) pause();
  const std::string plugin = plugin_at_work();
  const std::string text =
      fmt::format("\ntunesmith: {} ended the process by {}({}); all measurements are recorded\n",
                  plugin.empty() ? "[P12] a plugin's thread" : plugin, function, code);
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  return kEnvironmentFault;
}

[[noreturn]] void end_process(int code) {
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace

void watch_for_early_exit() { g_watched = getpid(); }

int end_with(int code) {
  g_watched = 0;
  return code;
}

}  // namespace tunesmith::cli

// These replace the C library's functions for every library that the command loads. A handler of `on_exit`
// does not suffice: a second thread that ends the process does not wait for it.
extern "C" void exit(int code) {
  using namespace tunesmith::cli;
  const int other = told(code, "exit");
  if (other == code) reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(code);
  std::fflush(nullptr);
  end_process(other);
}

/// Ends without a report after Tunesmith's own calls, which have reported the reason.
extern "C" void _exit(int code) {
  using namespace tunesmith::cli;
  end_process(code == kEnvironmentFault || code == kInterrupted ? code : told(code, "_exit"));
}
