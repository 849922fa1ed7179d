#include "worker/watched_call.h"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#if defined(__x86_64__)
// After any return the stack pointer is correct, so everything else is found relative to it.
asm(R"(
  .pushsection .text
  .type tunesmith_watched_call, @function
tunesmith_watched_call:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $40, %rsp
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %rcx
  movabsq $0x7b5a11f30c94d681, %rbx
  leaq 1(%rbx), %rbp
  leaq 2(%rbx), %r12
  leaq 3(%rbx), %r13
  leaq 4(%rbx), %r14
  leaq 5(%rbx), %r15
  call *%rax
  xorl %eax, %eax
  movabsq $0x7b5a11f30c94d681, %rcx
  cmpq %rcx, %rbx
  je 1f
  orl $1, %eax
1: incq %rcx
  cmpq %rcx, %rbp
  je 2f
  orl $2, %eax
2: incq %rcx
  cmpq %rcx, %r12
  je 3f
  orl $4, %eax
3: incq %rcx
  cmpq %rcx, %r13
  je 4f
  orl $8, %eax
4: incq %rcx
  cmpq %rcx, %r14
  je 5f
  orl $16, %eax
5: incq %rcx
  cmpq %rcx, %r15
  je 6f
  orl $32, %eax
6: pushfq
  popq %rcx
  cld
  testl $0x400, %ecx
  je 7f
  orl $64, %eax
7: fnstenv (%rsp)
  fldenv (%rsp)
  cmpw $0xffff, 8(%rsp)
  je 8f
  orl $128, %eax
  emms
8: addq $40, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
  .size tunesmith_watched_call, .-tunesmith_watched_call
  .popsection
)");
extern "C" uint32_t tunesmith_watched_call(void (*function)(), uintptr_t a, uintptr_t b, uintptr_t c,
                                           uintptr_t d);
#endif

namespace tunesmith {

uint32_t watched_call(void (*function)(), uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
#if defined(__x86_64__)
  return tunesmith_watched_call(function, a, b, c, d);
#else
  reinterpret_cast<void (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t)>(function)(a, b, c, d);
  return 0;
#endif
}

std::string caller_state_changed(uint32_t bits) {
  constexpr std::array<std::string_view, 8> kParts{
      "rbx", "rbp", "r12", "r13", "r14", "r15", "the direction flag", "the registers of x87 and MMX"};
  if (bits == kUnalignedStack) return "called with a stack that is not aligned to 16 bytes";
  std::vector<std::string_view> changed;
  for (size_t i = 0; i < kParts.size(); ++i)
    if ((bits >> i & 1) != 0) changed.push_back(kParts[i]);
  return fmt::format("did not restore the caller's state: {}", fmt::join(changed, ", "));
}

}  // namespace tunesmith
