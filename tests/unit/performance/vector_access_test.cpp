#include "tunesmith/performance/vector_access.h"

#include <gtest/gtest.h>

#include "tunesmith/ir/program.h"
#include "tunesmith/support/random.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

const Var kX("x");
const Var kY("y");

TEST(InLane, IsTheScalarOfTheLane) {
  const Buffer buffer = make_buffer("T", kF32, {64});
  const Expr value = load(buffer, {ramp(kX * 4, 1, 4)}, lt(ramp(kX, 2, 4), broadcast(kY, 4))) +
                     constant(2, kF32.with_lanes(4));
  EXPECT_TRUE(equal(in_lane(value, 3), load(buffer, {kX * 4 + 3}, lt(kX + 6, kY)) + constant(2, kF32)));
  EXPECT_TRUE(in_lane(kX, 3).same_as(kX));
}

class SameInAllLanes : public ::testing::Test {
 protected:
  SameInAllLanes() {
    ranges_.bind(kX, 100);
    ranges_.bind(kY, 100);
  }
  bool same(const Expr& condition) const { return bool(same_in_all_lanes(condition, ranges_)); }

  Analyzer ranges_;
};

TEST_F(SameInAllLanes, WhereLanesLieBetweenMultiplesOfTheirNumber) {
  const Expr lanes = ramp(kX * 4, 1, 4);
  EXPECT_TRUE(equal(same_in_all_lanes(lt(lanes, broadcast(12, 4)), ranges_), lt(kX * 4, 12)));
  EXPECT_TRUE(same(le(broadcast(12, 4), lanes)));
  EXPECT_TRUE(same(lt(lanes, broadcast(kY * 8, 4))));
  EXPECT_TRUE(same(logical_and(lt(lanes, broadcast(12, 4)), broadcast(lt(kY, 3), 4))));
  EXPECT_TRUE(same(lt(kX, kY))) << "scalar";
  EXPECT_FALSE(same(lt(lanes, broadcast(13, 4))));
  EXPECT_FALSE(same(le(lanes, broadcast(12, 4))));
  EXPECT_FALSE(same(lt(ramp(kX * 2, 1, 4), broadcast(12, 4))));
  EXPECT_FALSE(same(lt(lanes, broadcast(kY, 4))));
  EXPECT_FALSE(same(lt(ramp(kX * 4, 2, 4), broadcast(12, 4))));
  EXPECT_FALSE(same(logical_and(broadcast(lt(kY, 3), 4), lt(lanes, broadcast(13, 4)))));
}

// An answer for all lanes holds for each lane, for random conditions.
TEST_F(SameInAllLanes, IsWhatEachLaneSays) {
  int said = 0;
  for (uint64_t draw = 0; draw < 2000; ++draw) {
    RandomStream random(17, draw);
    const int lanes = 1 << (1 + random.below(3));
    const auto number = [&](uint64_t below) { return static_cast<int64_t>(random.below(below)); };
    // Drawn in sequence, since compilers evaluate arguments in different orders.
    const int64_t factor = number(10);
    const int64_t first = number(10);
    const Expr vector = ramp(kX * factor + first, number(2) == 0 ? 1 : -1, lanes);
    const int64_t bound_factor = number(10);
    const Expr bound = broadcast(kY * bound_factor + (number(60) - 10), lanes);
    const Expr condition = number(2) == 0 ? lt(vector, bound) : le(bound, vector);
    const Expr all = same_in_all_lanes(condition, ranges_);
    if (!all) continue;
    ++said;
    for (int64_t x = 0; x < 12; ++x) {
      for (int64_t y = 0; y < 12; ++y) {
        const Substitution point{{kX, x}, {kY, y}};
        for (int lane = 0; lane < lanes; ++lane) {
          EXPECT_TRUE(equal(ranges_.simplify(substitute(in_lane(condition, lane), point)),
                            ranges_.simplify(substitute(all, point))));
        }
      }
    }
  }
  EXPECT_GT(said, 50);
}

class IsOneAccess : public ::testing::Test {
 protected:
  static bool one(const char* scope, DType type, const Expr& index, const Expr& mask = {}) {
    const Buffer buffer = make_buffer("T", type, {1 << 20}, scope);
    StmtPtr body = std::make_unique<Store>(buffer, std::vector<Expr>{index},
                                           constant(0, type.with_lanes(index.dtype().lanes)), mask);
    const Stmt* store = body.get();
    body = std::make_unique<Loop>(LoopId{1}, kX, 0, 8, std::move(body));
    body = std::make_unique<Loop>(LoopId{2}, kY, 0, 8, std::move(body));
    const ExecutionModel execution = test::grid_machine();
    bool found = false;
    visit_accesses(*store,
                   [&](const AccessSite& access) { found = is_one_access(*store, access, execution, 16); });
    return found;
  }
};

TEST_F(IsOneAccess, OfAlignedNeighbours) {
  EXPECT_TRUE(one(kScopeGlobal, kF32, ramp(kX * 4, 1, 4)));
  EXPECT_TRUE(one("shared", kF32, ramp(kX * 4 + kY * 36 + 8, 1, 4)));
  EXPECT_TRUE(one("shared", kF32, ramp(kX * 2, 1, 2)));
  EXPECT_TRUE(one("shared", kF16, ramp(kX * 8, 1, 8)));
  EXPECT_TRUE(one("shared", kI8, ramp(kX * 16, 1, 16)));
  EXPECT_TRUE(one("shared", kF32, ramp(floordiv(kX, 4) * 64 + floormod(kX, 4) * 4, 1, 4)));
  EXPECT_FALSE(one("shared", kF32, kX)) << "a scalar";
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 2, 1, 4))) << "not aligned";
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 4 + 2, 1, 4))) << "not aligned";
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 4 + kY, 1, 4))) << "rows of an odd length";
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 16, 4, 4))) << "no neighbours";
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 8, 1, 8))) << "32 bytes";
  EXPECT_FALSE(one(kScopeLocal, kF32, ramp(kX * 4, 1, 4))) << "registers";
}

TEST_F(IsOneAccess, WhereAllLanesAreAccessedOrNone) {
  EXPECT_TRUE(one("shared", kF32, ramp(kX * 4, 1, 4), lt(ramp(kX * 4, 1, 4), broadcast(12, 4))));
  EXPECT_FALSE(one("shared", kF32, ramp(kX * 4, 1, 4), lt(ramp(kX * 4, 1, 4), broadcast(11, 4))));
}

}  // namespace
}  // namespace tunesmith
