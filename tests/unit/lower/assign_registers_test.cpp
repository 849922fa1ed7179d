#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(AssignRegisters, ATileLeavesRoomForItsOperands) {
  const auto tiled = [](int64_t rows, bool unrolled_steps = false) {
    Schedule s(gmm(rows, 16, 8));
    const BlockRV product = s.get_block("O");
    const BlockRV copy = s.cache_write(product, 0, kScopeLocal);
    const std::vector<LoopRV> loops = s.get_loops(product);
    s.reorder({loops[2], loops[0], loops[1]});
    s.decompose_reduction(product, loops[2]);
    for (const BlockRV block : {product, s.get_block("O_init"), copy}) {
      const std::vector<LoopRV> its = s.get_loops(block);
      s.vectorize(its.back());
      s.unroll(its[its.size() - 2]);
    }
    if (unrolled_steps) s.unroll(loops[2]);
    return s.program().clone();
  };
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(6, true)),
              testing::HasSubstr("O_local: f32[6, 16] register"))
      << "one step has two vectors of B, eight steps have them one after the other";
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(6)),
              testing::HasSubstr("O_local: f32[6, 16] register"));
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(7)), testing::HasSubstr("O_local: f32[7, 16] local"))
      << "14 accumulators, two vectors of B and one element of A are more than 16";
}

}  // namespace
}  // namespace tunesmith
