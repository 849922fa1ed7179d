#include "tunesmith/plugin/watch.h"

#include <atomic>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tunesmith/plugin/registry.h>

namespace tunesmith {
namespace {

TEST(PluginWatch, AChildTakesOverNoLockedMutex) {
  watch_plugins({60, 0});
  std::atomic<bool> end = false;
  std::thread busy([&] {
    while (!end) const PluginWatch watch(PluginKind::Module, "busy", "apply");
  });
  int hung = 0;
  for (int i = 0; i < 500 && hung == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGALRM, SIG_DFL);
      alarm(5);
      {
        const PluginWatch watch(PluginKind::Module, "child", "apply");
      }
      _exit(0);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) ++hung;
  }
  end = true;
  busy.join();
  EXPECT_EQ(hung, 0);
}

}  // namespace
}  // namespace tunesmith
