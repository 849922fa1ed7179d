// Changes that a call could, but must not make to its process.
#pragma once

#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace tunesmith::test {

inline void round_up(void*, int64_t, int64_t) { std::fesetround(FE_UPWARD); }

#if defined(__x86_64__)
inline void change_vector_control(uint32_t bits) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() ^ bits); }
inline void lower_precision() {
  const uint16_t single_precision = 0x7f;
  asm volatile("fldcw %0" : : "m"(single_precision));
}
#endif

inline void run_for_ever() {
  std::thread([] {
    for (volatile bool go = true; go;) {
    }
  }).detach();
}

/// Starts a sleeping thread with a small stack, so that many fit a worker's memory.
inline void sleep_for_ever() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{64} << 10);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const auto sleep = [](void*) -> void* {
    for (;;) pause();
  };
  pthread_create(&thread, &attributes, sleep, nullptr);
  pthread_attr_destroy(&attributes);
}

inline void block_termination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

/// A loop whose iterations block signals in the pool's threads, but not in the caller.
struct BlockedInThePool {
  std::thread::id caller = std::this_thread::get_id();
  /// Only one call of the process does so; later calls are fast.
  static inline std::atomic<bool> done = false;

  static void chunk(void* closure, int64_t, int64_t) {
    const auto& self = *static_cast<BlockedInThePool*>(closure);
    if (std::this_thread::get_id() != self.caller) {
      block_termination();
      done = true;
      return;
    }
    // Else the caller might take all chunks. Sleeping leaves the processor to the other thread.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (!done && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};

inline void close_some_file() {
  int descriptor = 4;  // the socket is 3
  while (fcntl(descriptor, F_GETFD) < 0) ++descriptor;
  close(descriptor);
}

}  // namespace tunesmith::test
