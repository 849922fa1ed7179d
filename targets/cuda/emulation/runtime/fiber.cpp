// Fortified longjmp() treats a jump to another stack as an error.
#undef _FORTIFY_SOURCE
#include "fiber.h"

#if TUNESMITH_OWN_SWITCH

// Registers that the System V ABI preserves across a call are pushed to the
// old stack and popped from the new one. The rounding mode is never changed.
extern "C" void tunesmith_switch_stacks(void** left, void* next);
asm(R"(
.text
.globl tunesmith_switch_stacks
.type tunesmith_switch_stacks, @function
tunesmith_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tunesmith_switch_stacks, . - tunesmith_switch_stacks
)");

namespace tunesmith_emulation {

void Fiber::prepare(char* stack, size_t bytes, void (*entry)()) {
  constexpr int kPushed = 6;
  // The stack as a call of `entry` leaves it: the (unused) return address is 8 below a multiple of 16.
  void** top = reinterpret_cast<void**>(stack + bytes) - 2;
  *top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < kPushed; ++i) *--top = nullptr;
  top_ = static_cast<void*>(top);
}

void Fiber::switch_to(Fiber& from, Fiber& to) { tunesmith_switch_stacks(&from.top_, to.top_); }

}  // namespace tunesmith_emulation

#else

namespace tunesmith_emulation {

// swapcontext() makes a system call for the signal mask
// at each switch, so it is used only to start a stack.
void Fiber::prepare(char* stack, size_t bytes, void (*entry)()) {
  getcontext(&first_);
  first_.uc_stack.ss_sp = stack;
  first_.uc_stack.ss_size = bytes;
  first_.uc_link = nullptr;
  makecontext(&first_, entry, 0);
  started_ = false;
}

void Fiber::resume() {
  if (started_) _longjmp(registers_, 1);
  started_ = true;
  setcontext(&first_);
  __builtin_unreachable();
}

void Fiber::switch_to(Fiber& from, Fiber& to) {
  if (_setjmp(from.registers_) == 0) to.resume();
}

}  // namespace tunesmith_emulation

#endif
