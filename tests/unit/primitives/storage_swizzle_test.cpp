#include <gmock/gmock.h>

#include <tunesmith/target/extension_file.h>

#include "unit/grid/grid_machine.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// `rows` x `columns` of f32, staged in memory with banks, or in another scope.
Schedule staged(int64_t rows, int64_t columns, const char* scope = "shared") {
  Schedule schedule(make_chain(rows, columns));
  const LoopRV all =
      schedule.split(schedule.get_loops(schedule.get_block("C"))[0], {int64_t{1}, std::nullopt})[0];
  const BlockRV block = schedule.get_block("B");
  schedule.set_scope(block, 0, scope);
  schedule.storage_swizzle(block, 0);
  schedule.compute_at(block, all);
  return schedule;
}

TEST(StorageSwizzle, FollowsFromTheLengthOfRowsAndTheBanks) {
  for (const auto& [columns, swizzle] :
       {std::pair(8, "swizzle [1 bits from 5 at 2]"), std::pair(16, "swizzle [2 bits from 5 at 2]"),
        std::pair(32, "swizzle [3 bits from 5 at 2]"), std::pair(64, "swizzle [3 bits from 6 at 2]")}) {
    const Schedule schedule = staged(8, columns);
    EXPECT_THAT(to_string(lowered_for_grid(schedule.program()).program), HasSubstr(swizzle));
    expect_same_after_every_step(schedule.program());
  }
}

TEST(StorageSwizzle, MovesPiecesWithinTheirRow) {
  const Swizzle swizzle{2, 3, 6};  // rows of 32 elements of 16 bits
  EXPECT_EQ(swizzle.period(), 256);
  for (int64_t i = 0; i < 1024; ++i) {
    EXPECT_EQ(swizzle.place_of(i), i / 32 * 32 + (i / 8 % 4 ^ i / 64 % 4) * 8 + i % 8);
    EXPECT_EQ(swizzle.place_of(swizzle.place_of(i)), i);
    EXPECT_EQ(swizzle.place_of(i + 256), swizzle.place_of(i) + 256);
  }
  EXPECT_EQ(Swizzle{}.place_of(77), 77);
  EXPECT_EQ(Swizzle{}.period(), 1);
}

TEST(StorageSwizzle, LoweringRefusesWhatHasNoSuchPieces) {
  const auto refused = [](const Schedule& schedule, const char* reason) {
    EXPECT_THAT([&] { lowered_for_grid(schedule.program()); }, ThrowsMessage<LowerError>(HasSubstr(reason)));
  };
  refused(staged(8, 12), "a row is no power of two of bytes, or too short to be swizzled");
  refused(staged(8, 4), "a row is no power of two of bytes, or too short to be swizzled");
  refused(staged(8, 16, kScopeLocal), "the memory has no banks");
}

TEST(StorageSwizzle, Refusals) {
  Schedule schedule(make_chain(8, 16));
  const BlockRV b = schedule.get_block("B");
  const auto refused = [&](BlockRV block, int index, const char* reason) {
    expect_refused(schedule, "storage_swizzle", reason, [&] { schedule.storage_swizzle(block, index); });
  };
  refused(schedule.get_block("C"), 0, "the buffer is not an intermediate of the program");
  refused(b, 1, "the block has fewer writes");
  schedule.storage_swizzle(b, 0);
  refused(b, 0, "the buffer is already swizzled");
  expect_refused(schedule, "storage_align", "the buffer is swizzled",
                 [&] { schedule.storage_align(b, 0, 0, 8, 4); });
  expect_sound(make_chain(8, 16), schedule);
  EXPECT_THAT(body_of(schedule), HasSubstr("annotate storage_swizzle = 1"));
  Schedule aligned(make_chain(8, 16));
  const BlockRV block = aligned.get_block("B");
  aligned.storage_align(block, 0, 0, 8, 4);
  expect_refused(aligned, "storage_swizzle", "the buffer's rows are aligned",
                 [&] { aligned.storage_swizzle(block, 0); });
}

TEST(StorageSwizzle, OfRowsThatACallReadsAsTheyAre) {
  const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/intrinsics.yaml");
  Schedule schedule(make_program("{n: 4, m: 6}", "{X: {shape: [n, m], dtype: f64}}",
                                 "B[i<n, j<m] = X[i, j]\n  O[i<n, j<m] = B[i, j] + 1"));
  const BlockRV block = schedule.get_block("B");
  const LoopRV tile = schedule.split(schedule.get_loops(block)[1], {std::nullopt, 3})[1];
  const BlockRV call = schedule.tensorize(tile, "test_copy_3");
  expect_refused(schedule, "storage_swizzle", "a call of an intrinsic requires unswizzled rows",
                 [&] { schedule.storage_swizzle(call, 0); });
}

}  // namespace
}  // namespace tunesmith::test
