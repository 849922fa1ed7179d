#include "twins/trace_for_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

Program convolution(int64_t size) {
  return std::move(
      WorkloadLibrary()
          .load("conv2d:h=" + std::to_string(size) + ",w=" + std::to_string(size) + ",ci=2,co=4,kernel=3")
          .program);
}

Trace fused(const Program& program, const std::string& rows) {
  Schedule schedule(program);
  const BlockRV block = schedule.get_block("O");
  schedule.transform_block_layout(
      block, "(v0, v1, v2, v3, v4, v5, v6) -> (" + rows + ", v3, (v4 * 3 + v5) * 2 + v6)");
  schedule.parallel(schedule.get_loops(block)[0]);
  return schedule.trace();
}

TEST(TraceForShape, FusesAsTheInstanceNeedsIt) {
  const Program program = convolution(8);
  const Trace trace = fused(program, "(v0 * 8 + v1) * 8 + v2");
  EXPECT_FALSE(replay(convolution(6), trace)) << "as it is";
  const TraceForShape adapted(program, trace);
  EXPECT_TRUE(adapted.fuses());
  EXPECT_EQ(adapted.of(program)->str(), trace.str());
  const auto smaller = adapted.of(convolution(6));
  ASSERT_TRUE(smaller);
  EXPECT_THAT(smaller->str(), HasSubstr("(v0 * 6 + v1) * 6 + v2"));
  const auto schedule = replay(convolution(6), *smaller);
  ASSERT_TRUE(schedule) << schedule.error().what();
  EXPECT_EQ(schedule->trace().size(), trace.size());
}

TEST(TraceForShape, LeavesOtherTracesAsTheyAre) {
  const Program program = convolution(8);
  // Columns come before rows, which only this trace does.
  const Trace other = fused(program, "(v0 * 8 + v2) * 8 + v1");
  EXPECT_FALSE(TraceForShape(program, other).fuses());
  EXPECT_EQ(TraceForShape(program, other).of(convolution(6))->str(), other.str());
  Schedule plain(program);
  plain.parallel(plain.get_loops(plain.get_block("O"))[0]);
  EXPECT_FALSE(TraceForShape(program, plain.trace()).fuses());
}

}  // namespace
}  // namespace tunesmith
