#include "tunesmith/measuring/peak.h"

#include <utility>

#include <gtest/gtest.h>

#include "lowered_program.h"

namespace tunesmith {
namespace {

TEST(Peak, IsAPlausibleRate) {
  const auto target = testing::make_target();
  const double f32 = measure_peak(*target, kF32, 1);
  // Between one scalar operation a nanosecond and 64 lanes at 10 GHz on four units.
  EXPECT_GT(f32, 1e9);
  EXPECT_LT(f32, 5e12);
  EXPECT_NEAR(measure_peak(*target, kF64, 1) / f32, 0.5, 0.2);
  for (const DType type : {kF16, kBF16, kI8, kU8, kI32, kI64})
    EXPECT_GT(measure_peak(*target, type, 1), 1e8) << type.str();
}

TEST(Peak, OfBytesIsThatOfTheInstructionsThatMultiplyBytes) {
  const auto operations = [](const char* processor, DType type) {
    return testing::make_target({{"mcpu", processor}})->peak_kernel(type, 1).operations;
  };
  // With vectors of one width, a round has equally many instructions of each type.
  for (const auto& [processor, times] :
       {std::pair{"haswell", 2.0}, {"icelake-server", 4.0}, {"znver4", 4.0}}) {
    const double i32 = operations(processor, kI32);
    EXPECT_DOUBLE_EQ(operations(processor, kU8), times * i32) << processor;
    EXPECT_DOUBLE_EQ(operations(processor, kI8), times * i32) << processor;
    EXPECT_DOUBLE_EQ(operations(processor, kF32), i32) << processor;
  }
}

TEST(CopyBandwidth, IsAPlausibleRate) {
  const auto target = testing::make_target();
  const double rate = target->measure_copy_bandwidth(1);
  EXPECT_GT(rate, 1e8);
  EXPECT_LT(rate, 1e13);
}

}  // namespace
}  // namespace tunesmith
