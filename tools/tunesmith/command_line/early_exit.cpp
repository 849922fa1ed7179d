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

// Child processes that are copies of this one may end in any way.
std::atomic<pid_t> g_watched = 0;

std::atomic<bool> g_telling = false;

/// The exit code. Of threads that end the process at the same
/// time, the first reports and ends it; the others wait.
int told(int code, const char* function) {
  if (g_watched != getpid()) return code;
  while (g_telling.exchange(true)) pause();
  const std::string plugin = plugin_at_work();
  const std::string text =
      fmt::format("\ntunesmith: {} ended the process by {}({}); everything measured is recorded\n",
                  plugin.empty() ? "[P12] a thread of a plugin" : plugin, function, code);
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

// These take the C library's place for all that the command loads. A handler of `on_exit` would not do: a
// second thread that ends the process does not wait for it.
extern "C" void exit(int code) {
  using namespace tunesmith::cli;
  const int other = told(code, "exit");
  if (other == code) reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"))(code);
  std::fflush(nullptr);
  end_process(other);
}

/// Tunesmith's own calls have reported the reason.
extern "C" void _exit(int code) {
  using namespace tunesmith::cli;
  end_process(code == kEnvironmentFault || code == kInterrupted ? code : told(code, "_exit"));
}
