#include "tunesmith/network/choose_in_place.h"

#include <gtest/gtest.h>

namespace tunesmith::network {
namespace {

TEST(SignTest, CountsTheRoundsThatOneWins) {
  const std::vector<double> base(10, 2.0);
  EXPECT_EQ(sign_test(base, std::vector<double>(10, 3.0)), 1.0);
  EXPECT_EQ(sign_test(base, base), 1.0);  // a tie is no win
  EXPECT_NEAR(sign_test(base, std::vector<double>(10, 1.0)), 1.0 / 1024, 1e-12);
  std::vector<double> other(10, 1.0);
  other[3] = 3.0;  // 9 of 10
  EXPECT_NEAR(sign_test(base, other), 11.0 / 1024, 1e-12);
  other[3] = 2.0;  // 9 of 9
  EXPECT_NEAR(sign_test(base, other), 1.0 / 512, 1e-12);
}

TEST(ChooseAlone, TakesTheFirstOfEach) {
  std::vector<std::deque<CompiledKernel>> programs(2);
  programs[0].resize(3);
  programs[1].resize(1);
  const ChosenPrograms chosen = choose_alone(programs);
  ASSERT_EQ(chosen.kernels.size(), 2U);
  EXPECT_EQ(chosen.kernels[0], &programs[0][0]);
  EXPECT_EQ(chosen.kernels[1], &programs[1][0]);
  EXPECT_EQ(chosen.others, 0U);
}

}  // namespace
}  // namespace tunesmith::network
