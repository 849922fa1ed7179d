// Which mistake a bad plugin is to make: the environment variable TUNESMITH_TEST_MISTAKE, so that one library
// makes all.
#pragma once

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include <tunesmith/support/error.h>

inline bool mistake(std::string_view name) {
  const char* chosen = std::getenv("TUNESMITH_TEST_MISTAKE");
  return chosen != nullptr && name == chosen;
}

/// Volatile, so that the compiler does not know that the recursion never ends.
inline volatile int g_least_depth = -1;

[[gnu::noinline]] inline int use_up_the_stack(int depth) {
  if (depth < g_least_depth) return 0;
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return use_up_the_stack(depth + 1) + frame[0];
}

/// Makes a mistake that any call can make: "segfaults in propose".
inline void misbehave(std::string_view call) {
  const auto asked = [&](std::string_view what) {
    return mistake(std::string(what) + " in " + std::string(call));
  };
  if (asked("throws")) throw std::runtime_error("boom");
  if (asked("user_error")) throw tunesmith::UserError("boom");
  if (asked("segfaults")) {
    int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (asked("exits")) std::exit(0);
  if (asked("_exits")) _exit(0);
  if (asked("recurses")) use_up_the_stack(0);
  if (asked("hangs")) std::this_thread::sleep_for(std::chrono::hours(1));
  if (asked("allocates")) {
    std::vector<std::vector<char>> all;
    for (;;) all.emplace_back(size_t{8} << 20, char{1});
  }
}
