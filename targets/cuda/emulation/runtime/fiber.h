// Fibers: stacks that take turns on one host thread.
#pragma once

#include <cstddef>

// A matrix instruction is 32 switches, which make up a third of its time by the C library's functions.
#if defined(__x86_64__) && !defined(TUNESMITH_PORTABLE_FIBERS)
#define TUNESMITH_OWN_SWITCH 1
#else
#define TUNESMITH_OWN_SWITCH 0
#include <csetjmp>

#include <ucontext.h>
#endif

namespace tunesmith_emulation {

/// A stack with its saved context.
class Fiber {
 public:
  /// `entry` never returns. The stack must outlive the fiber; its address and `bytes` are multiples of 16.
  void prepare(char* stack, size_t bytes, void (*entry)());
  /// Switches from the running fiber `from` to `to`.
  static void switch_to(Fiber& from, Fiber& to);

 private:
#if TUNESMITH_OWN_SWITCH
  void* top_ = nullptr;
#else
  [[noreturn]] void resume();

  jmp_buf registers_;
  ucontext_t first_;
  bool started_ = true;  // the process's first stack needs no preparation
#endif
};

}  // namespace tunesmith_emulation
