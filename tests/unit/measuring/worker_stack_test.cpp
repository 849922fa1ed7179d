// A worker has enough stack, whatever limit it was started with.
#include <array>
#include <cstddef>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tunesmith/support/error.h"
#include "worker/worker_faults.h"

namespace tunesmith {
namespace {

[[gnu::noinline]] void use_stack() {
  std::array<std::byte, 2 * 1024 * 1024> bytes;
  std::memset(bytes.data(), 1, bytes.size());
  asm volatile("" : : "r"(bytes.data()) : "memory");
}

/// Runs in a separate process.
[[noreturn]] void work_within(rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  setrlimit(RLIMIT_STACK, &limit);
  if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
  try {
    provide_stack();
  } catch (const EnvironmentError&) {
    _exit(4);
  }
  use_stack();
  std::thread(use_stack).join();
  _exit(0);
}

constexpr rlim_t kKibibyte = 1024;

TEST(WorkerStack, IsRaisedToTheHardLimit) {
  EXPECT_EXIT(work_within(512 * kKibibyte, 8192 * kKibibyte), testing::ExitedWithCode(0), "");
}

TEST(WorkerStack, BelowThatTheMachineIsToBlame) {
  EXPECT_EXIT(work_within(512 * kKibibyte, 512 * kKibibyte), testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace tunesmith
