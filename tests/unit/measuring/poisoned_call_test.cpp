#include "worker/poisoned_call.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

#if defined(__x86_64__)

using Register = std::array<std::byte, 16>;

/// Stores a register that it has not written, like the code of a sum without init.
[[gnu::noinline]] void write_register(Register* to) {
  asm volatile("movups %%xmm7, (%0)" : : "r"(to) : "memory");
}

void body(void* closure, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) write_register(static_cast<Register*>(closure) + i);
}

void serial_kernel(void* const* arguments, void* /*workspace*/, tunesmith_parallel_for /*run*/,
                   void* /*pool*/) {
  write_register(static_cast<Register*>(arguments[0]));
}

void parallel_kernel(void* const* arguments, void* /*workspace*/, tunesmith_parallel_for run, void* pool) {
  run(pool, 8, body, arguments[0]);
}

class PoisonedCall : public ::testing::TestWithParam<tunesmith_kernel> {};

TEST_P(PoisonedCall, WhatAKernelDoesNotInitialiseIsPoison) {
  tunesmith_runtime_pool* pool = tunesmith_runtime_pool_create(2);
  for (const std::byte poison : {std::byte{0xff}, std::byte{0x7e}}) {
    std::array<Register, 8> seen{};
    time_poisoned({GetParam(), {seen.data()}, nullptr, pool}, poison);
    EXPECT_TRUE(std::ranges::all_of(seen[0], [&](std::byte byte) { return byte == poison; }));
    if (GetParam() == parallel_kernel) {
      EXPECT_TRUE(std::ranges::all_of(seen[7], [&](std::byte byte) { return byte == poison; }));
    }
  }
  tunesmith_runtime_pool_destroy(pool);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PoisonedCall, ::testing::Values(serial_kernel, parallel_kernel));

#endif

}  // namespace
}  // namespace tunesmith
