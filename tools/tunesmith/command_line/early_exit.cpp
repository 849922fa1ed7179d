#include "early_exit.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/exit_codes.h"
#include "tunesmith/plugin/watch.h"

namespace tunesmith::cli {
namespace {

// Children that are copies of this process end as they like.
std::atomic<pid_t> g_watched = 0;

/// The code to end with.
int told(int code, const char* function) {
  pid_t watched = getpid();
  if (!g_watched.compare_exchange_strong(watched, 0)) return code;
  const std::string plugin = plugin_at_work();
  const std::string text =
      fmt::format("\ntunesmith: {} ended the process by {}({}); everything measured is recorded\n",
                  plugin.empty() ? "[P12] a thread of a plugin" : plugin, function, code);
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  return kEnvironmentFault;
}

}  // namespace

void watch_for_early_exit() {
  g_watched = getpid();
  on_exit(
      [](int code, void*) {
        const int other = told(code, "exit");
        if (other == code) return;
        std::fflush(nullptr);
        _exit(other);
      },
      nullptr);
}

int end_with(int code) {
  g_watched = 0;
  return code;
}

}  // namespace tunesmith::cli

/// Takes the C library's place for all that the command loads. What Tunesmith itself ends so has said why.
extern "C" void _exit(int code) {
  using namespace tunesmith::cli;
  if (code != kEnvironmentFault && code != kInterrupted) code = told(code, "_exit");
  for (;;) syscall(SYS_exit_group, code);
}
