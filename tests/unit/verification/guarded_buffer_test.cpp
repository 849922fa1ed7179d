#include "tunesmith/verification/guarded_buffer.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::KilledBySignal;

// To die by the signal itself: sanitizers handle it and end the process by an exit code.
void write_to(volatile std::byte* place) {
  std::signal(SIGSEGV, SIG_DFL);
  *place = std::byte{1};
}
void read_from(const volatile std::byte* place) {
  std::signal(SIGSEGV, SIG_DFL);
  static_cast<void>(*place);
}

class GuardedBufferSizes : public testing::TestWithParam<int64_t> {};

TEST_P(GuardedBufferSizes, TheFirstByteBeyondIsAFault) {
  const GuardedBuffer buffer(GetParam(), 1);
  EXPECT_EQ(buffer.bytes(), GetParam());
  std::memset(buffer.data(), 1, static_cast<size_t>(buffer.bytes()));
  EXPECT_TRUE(buffer.check_canary());
  volatile std::byte* const beyond = buffer.data() + buffer.bytes();
  EXPECT_EXIT(write_to(beyond), KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(read_from(beyond), KilledBySignal(SIGSEGV), "");
  EXPECT_TRUE(buffer.owns(buffer.data() + buffer.bytes())) << "its guard";
}

TEST_P(GuardedBufferSizes, AWriteBeforeTheFirstByteShows) {
  GuardedBuffer buffer(GetParam(), 1);
  volatile std::byte* const before = buffer.data() - 1;
  *before = std::byte{1};
  EXPECT_FALSE(buffer.check_canary());
  buffer.fill_canary();
  EXPECT_TRUE(buffer.check_canary());
}

INSTANTIATE_TEST_SUITE_P(Bytes, GuardedBufferSizes, testing::Values(1, 4000, 4095, 4096, 4097, 8192, 12345));

TEST(GuardedBuffer, KeepsItsAlignment) {
  for (const int64_t alignment : {4, 8, 64}) {
    const GuardedBuffer buffer(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % static_cast<uintptr_t>(alignment), 0u);
  }
}

TEST(GuardedBuffer, CanBeAlignedNoBetterThanPromised) {
  for (const int64_t bytes : {1, 64, 4096, 5000}) {
    for (const int64_t alignment : {1, 4, 64}) {
      GuardedBuffer buffer(bytes, alignment, Placement::Unaligned);
      const auto at = reinterpret_cast<uintptr_t>(buffer.data());
      EXPECT_EQ(at % static_cast<uintptr_t>(2 * alignment), static_cast<uintptr_t>(alignment));
      std::memset(buffer.data(), 1, static_cast<size_t>(bytes));
      EXPECT_TRUE(buffer.check_canary());
      for (const int64_t outside : {int64_t{-1}, bytes}) {
        volatile std::byte* const place = buffer.data() + outside;
        *place = std::byte{1};
        EXPECT_FALSE(buffer.check_canary()) << outside;
        buffer.fill_canary();
      }
      buffer.place(Placement::OnPage);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0u);
      EXPECT_TRUE(buffer.check_canary());
    }
  }
}

TEST(GuardedBuffer, CanBeReadOnlyForAWhile) {
  GuardedBuffer buffer(64, 4);
  volatile std::byte* const data = buffer.data();
  *data = std::byte{7};
  buffer.set_read_only(true);
  EXPECT_EQ(std::to_integer<int>(*data), 7);
  EXPECT_EXIT(write_to(data), KilledBySignal(SIGSEGV), "");
  buffer.set_read_only(false);
  *data = std::byte{8};
  EXPECT_EQ(std::to_integer<int>(*data), 8);
}

TEST(GuardedBuffer, OwnsItsMappingOnly) {
  const GuardedBuffer buffer(64, 4);
  EXPECT_TRUE(buffer.owns(buffer.data()));
  EXPECT_TRUE(buffer.owns(buffer.data() - 4096)) << "the guard before";
  EXPECT_FALSE(buffer.owns(buffer.data() + 3 * 4096));
  EXPECT_FALSE(buffer.owns(&buffer));
}

TEST(GuardedBuffer, MovesWithItsMemory) {
  GuardedBuffer first(64, 4);
  std::byte* const data = first.data();
  *data = std::byte{5};
  const GuardedBuffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(*second.data(), std::byte{5});
}

TEST(GuardedBuffer, MemoryThatIsNotToBeHadIsAnError) {
  EXPECT_THROW(GuardedBuffer(int64_t{1} << 60, 64), EnvironmentError);
}

}  // namespace
}  // namespace tunesmith
