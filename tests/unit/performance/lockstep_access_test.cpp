#include "tunesmith/performance/lockstep_access.h"

#include <gtest/gtest.h>

#include "tunesmith/ir/program.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

constexpr int64_t kSectorBytes = 32;

/// `threads` threads of a block of `rows` rows, whose accesses a test computes from their numbers.
class LockstepAccessTest : public ::testing::Test {
 protected:
  Var x_{"x"};
  Var y_{"y"};
  Var k_{"k"};
  int64_t threads_ = 32;
  int64_t rows_ = 1;
  Expr condition_;

  Swizzle swizzle_;

  LockstepAccess written(const char* scope, DType type, const Expr& index, const Expr& mask = {}) {
    const Buffer buffer = make_buffer("T", type, {1 << 20}, scope, false, {}, swizzle_);
    const int lanes = index.dtype().lanes;
    StmtPtr body =
        std::make_unique<Store>(buffer, std::vector<Expr>{index}, constant(0, type.with_lanes(lanes)), mask);
    const Stmt* store = body.get();
    if (condition_) body = std::make_unique<If>(condition_, std::move(body));
    body = std::make_unique<Loop>(LoopId{1}, k_, 4, 8, std::move(body));
    body = bound(x_, "thread.x", threads_, std::move(body));
    body = bound(y_, "thread.y", rows_, std::move(body));
    body = bound(Var("b"), "block.x", 7, std::move(body));
    const ExecutionModel execution = test::grid_machine();
    std::optional<LockstepAccess> found;
    visit_accesses(*store, [&](const AccessSite& access) {
      found = lockstep_access(*store, access, {&execution, 32, kSectorBytes});
    });
    EXPECT_TRUE(found.has_value());
    return found.value_or(LockstepAccess{});
  }

 private:
  static StmtPtr bound(const Var& var, const char* axis, int64_t extent, StmtPtr body) {
    auto loop = std::make_unique<Loop>(LoopId{2}, var, 0, extent, std::move(body));
    loop->loop_kind = LoopKind::Bound;
    loop->thread = axis;
    return loop;
  }
};

TEST_F(LockstepAccessTest, SectorsAreThoseInWhichTheAddressesLie) {
  EXPECT_EQ(written(kScopeGlobal, kF32, x_).sectors, 4);
  EXPECT_EQ(written(kScopeGlobal, kF32, x_ + 4).sectors, 5) << "begins in the middle of one";
  EXPECT_EQ(written(kScopeGlobal, kF32, x_ * 2).sectors, 8);
  EXPECT_EQ(written(kScopeGlobal, kF32, x_ * 100).sectors, 32);
  EXPECT_EQ(written(kScopeGlobal, kF16, x_).sectors, 2);
  EXPECT_EQ(written(kScopeGlobal, kF64, x_).sectors, 8);
  EXPECT_EQ(written(kScopeGlobal, kF32, Expr(5)).sectors, 1);
  EXPECT_DOUBLE_EQ(written(kScopeGlobal, kF32, x_ * 2).used_share(kSectorBytes), 0.5);
}

// The fragments of a product of 16 by 8: two neighbours of a row for each of four threads.
TEST_F(LockstepAccessTest, RowsOfFourThreadsUseSectorsByTheirType) {
  const Expr two = ramp(floordiv(x_, 4) * 1024 + floormod(x_, 4) * 2, 1, 2);
  EXPECT_EQ(written(kScopeGlobal, kF32, two).sectors, 8);
  EXPECT_DOUBLE_EQ(written(kScopeGlobal, kF32, two).used_share(kSectorBytes), 1.0);
  EXPECT_DOUBLE_EQ(written(kScopeGlobal, kF16, two).used_share(kSectorBytes), 0.5);
}

// Tiles of 128 by 8 and of 8 by 128, each thread fetching four neighbours.
TEST_F(LockstepAccessTest, TilesFetchedByFours) {
  EXPECT_EQ(written(kScopeGlobal, kF32, ramp(floordiv(x_, 2) * 1024 + floormod(x_, 2) * 4, 1, 4)).sectors,
            16);
  EXPECT_EQ(written(kScopeGlobal, kF32, ramp(x_ * 4, 1, 4)).sectors, 16);
}

TEST_F(LockstepAccessTest, WavefrontsAreTheWordsOfTheBusiestBank) {
  EXPECT_EQ(written("shared", kF32, x_).wavefronts, 1);
  EXPECT_EQ(written("shared", kF32, Expr(3)).wavefronts, 1) << "one word for all";
  EXPECT_EQ(written("shared", kF32, x_ * 2).wavefronts, 2);
  EXPECT_EQ(written("shared", kF32, x_ * 32).wavefronts, 32);
  EXPECT_EQ(written("shared", kF32, x_ * 33).wavefronts, 1) << "padded";
  EXPECT_EQ(written("shared", kF16, x_).wavefronts, 1) << "two threads share a word";
  EXPECT_EQ(written("shared", kF64, x_).wavefronts, 2) << "two phases";
  EXPECT_EQ(written("shared", kF32, ramp(x_ * 4, 1, 4)).wavefronts, 4) << "four phases";
  EXPECT_EQ(written(kScopeGlobal, kF32, x_).wavefronts, 0) << "has no banks";
}

// ldmatrix reads 16 x 16 elements of 16 bits; each thread addresses eight elements of a row. The bytes fill
// four wavefronts.
TEST_F(LockstepAccessTest, SwizzledRowsHaveNoConflicts) {
  struct Rows {
    int64_t elements;
    Swizzle swizzle;
    double plain;
  };
  for (const Rows& rows :
       {Rows{16, {1, 3, 6}, 8}, Rows{32, {2, 3, 6}, 16}, Rows{64, {3, 3, 6}, 32}, Rows{128, {3, 3, 7}, 32}}) {
    const Expr address = ramp(floormod(x_, 16) * rows.elements + floordiv(x_, 16) * 8, 1, 8);
    swizzle_ = {};
    EXPECT_EQ(written("shared", kF16, address).wavefronts, rows.plain) << rows.elements;
    swizzle_ = rows.swizzle;
    EXPECT_EQ(written("shared", kF16, address).wavefronts, 4) << rows.elements;
  }
  swizzle_ = {2, 3, 5};  // by the row's lowest bits: c ^ (r & 3)
  EXPECT_EQ(written("shared", kF16, ramp(floormod(x_, 16) * 32 + floordiv(x_, 16) * 8, 1, 8)).wavefronts, 8);
}

TEST_F(LockstepAccessTest, AVectorThatIsNotAlignedIsAccessedLaneByLane) {
  const LockstepAccess one = written("shared", kF32, ramp(x_ * 4, 1, 4));
  EXPECT_EQ(one.instructions, 1);
  EXPECT_EQ(one.threads, 32);
  const LockstepAccess four = written("shared", kF32, ramp(x_ * 5, 1, 4));
  EXPECT_EQ(four.instructions, 4);
  EXPECT_EQ(four.threads, 32);
  EXPECT_EQ(four.bytes, 512);
  EXPECT_EQ(four.wavefronts, 4) << "threads five words apart never meet in a bank";
  EXPECT_EQ(written(kScopeGlobal, kF32, ramp(x_ * 4 + 1, 1, 4)).sectors, 65) << "each lane takes 16 or 17";
}

TEST_F(LockstepAccessTest, ThreadsAreNumberedAlongTheFirstAxisFirst) {
  threads_ = 8;
  rows_ = 8;
  const LockstepAccess access = written(kScopeGlobal, kF32, y_ * 64 + x_);
  EXPECT_EQ(access.threads, 32);
  EXPECT_EQ(access.sectors, 4) << "four rows of a sector each";
}

TEST_F(LockstepAccessTest, ConditionsAndMasksLeaveThreadsOut) {
  EXPECT_EQ(written(kScopeGlobal, kF32, x_, lt(x_, 8)).sectors, 1);
  condition_ = lt(x_, 8);
  EXPECT_EQ(written(kScopeGlobal, kF32, x_).threads, 8);
  condition_ = lt(k_, 4);
  const LockstepAccess none = written(kScopeGlobal, kF32, x_);
  EXPECT_EQ(none.threads, 0);
  EXPECT_EQ(none.used_share(kSectorBytes), 1.0);
}

TEST_F(LockstepAccessTest, AnIncompleteGroupCountsAsOne) {
  threads_ = 40;
  const LockstepAccess access = written(kScopeGlobal, kF32, x_);
  EXPECT_EQ(access.threads, 20);
  EXPECT_EQ(access.sectors, 2.5) << "the mean of four and one";
}

}  // namespace
}  // namespace tunesmith
