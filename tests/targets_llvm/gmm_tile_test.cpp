#include <cmath>

#include <gtest/gtest.h>

#include "lowered_program.h"

namespace tunesmith {
namespace {

using testing::gmm_tile_program;
using testing::make_target;

std::vector<float> numbers(size_t count, int seed) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] =
        static_cast<float>(static_cast<int>((i * 7919 + static_cast<size_t>(seed) * 31) % 31) - 15) * 0.0625f;
  return result;
}

void expect_right(const LoweredProgram& lowered, llvm_target::LlvmTarget& target, size_t m, size_t n,
                  size_t k, size_t nr, int threads) {
  std::vector<float> a = numbers(m * k, 1), b = numbers(n * k, 2), c(m * n, NAN);
  testing::run_compiled(target, lowered, {a.data(), b.data(), c.data()}, threads);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (size_t kk = 0; kk < k; ++kk) sum += double{a[i * k + kk]} * b[(j / nr * k + kk) * nr + j % nr];
      ASSERT_NEAR(c[i * n + j], sum, 1e-4) << i << ", " << j;
    }
  }
}

TEST(GmmTile, ComputesTheProduct) {
  const auto target = make_target();
  const auto lanes = target->lower_options().vector_bits / 32;
  for (const bool parallel : {false, true}) {
    const LoweredProgram lowered = gmm_tile_program(24, 3 * 2 * lanes, 40, 8, 2 * lanes, lanes, parallel);
    expect_right(lowered, *target, 24, static_cast<size_t>(3 * 2 * lanes), 40, static_cast<size_t>(2 * lanes),
                 2);
  }
}

}  // namespace
}  // namespace tunesmith
