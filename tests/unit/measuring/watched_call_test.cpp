#include "worker/watched_call.h"

#include <cstdint>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tunesmith {
namespace {

#if defined(__x86_64__)

using testing::EndsWith;

[[gnu::naked]] void keeps_all() { asm("ret"); }
[[gnu::naked]] void changes_rbx() { asm("movq $-1, %rbx\n ret"); }
[[gnu::naked]] void changes_rbp() { asm("movq $-1, %rbp\n ret"); }
[[gnu::naked]] void changes_r12_and_r15() { asm("incq %r12\n xorl %r15d, %r15d\n ret"); }
[[gnu::naked]] void runs_backwards() { asm("std\n ret"); }
[[gnu::naked]] void leaves_mmx() { asm("movq %rsp, %mm3\n ret"); }
[[gnu::naked]] void leaves_a_number() { asm("fld1\n ret"); }

int64_t g_sum = 0;
void add_up(int64_t a, int64_t b, int64_t c, int64_t d) { g_sum = a + 10 * b + 100 * c + 1000 * d; }

TEST(WatchedCall, SeesWhatIsNotKept) {
  const std::pair<void (*)(), const char*> kFunctions[] = {
      {changes_rbx, ": rbx"},
      {changes_rbp, ": rbp"},
      {changes_r12_and_r15, ": r12, r15"},
      {runs_backwards, ": the direction flag"},
      {leaves_mmx, ": the registers of x87 and MMX"},
      {leaves_a_number, ": the registers of x87 and MMX"}};
  EXPECT_EQ(watched_call(keeps_all, 0, 0, 0, 0), 0U);
  for (const auto& [function, what] : kFunctions) {
    const uint32_t changed = watched_call(function, 0, 0, 0, 0);
    ASSERT_NE(changed, 0U) << what;
    EXPECT_THAT(caller_state_changed(changed), EndsWith(what));
    EXPECT_EQ(watched_call(keeps_all, 0, 0, 0, 0), 0U) << "it is set back";
    const volatile long double number = 1.5L;
    EXPECT_EQ(number * number, 2.25L) << what;
  }
}

TEST(WatchedCall, PassesArguments) {
  EXPECT_EQ(watched_call(reinterpret_cast<void (*)()>(add_up), 1, 2, 3, 4), 0U);
  EXPECT_EQ(g_sum, 4321);
}

#endif

}  // namespace
}  // namespace tunesmith
