// Transformations of programs that read at an index which is data.
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// W = X + 1 and J = I // 100 - 2, and rows of W at J: of 3 rows, some of J are outside.
Program make_gather() {
  return make_program("{n: 5, m: 3, k: 6}", "{X: {shape: [m, k], dtype: i32}, I: {shape: [n], dtype: i32}}",
                      "W[r<m, c<k] = X[r, c] + 1\n  J[i<n] = I[i] // 100 - 2\n"
                      "  O[i<n, c<k] = W[at(J[i]), c]");
}

TEST(Gather, AProducerOfTheDataIsInlined) {
  const Program before = make_gather();
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("W"));
  EXPECT_NE(body_of(schedule).find("X[index(min(max(J[vi], 0), 2)), vc] + 1"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(Gather, AProducerOfTheIndexIsInlined) {
  const Program before = make_gather();
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("J"));
  EXPECT_EQ(body_of(schedule).find("J"), std::string::npos) << body_of(schedule);
  expect_sound(before, schedule);
  schedule.compute_inline(schedule.get_block("W"));
  expect_sound(before, schedule);
}

TEST(Gather, AProducerOfTheDataIsComputedAsAWholeWhereItMoves) {
  const Program before = make_gather();
  Schedule schedule(before);
  const LoopRV row = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.compute_at(schedule.get_block("J"), row);
  schedule.compute_at(schedule.get_block("W"), row);
  EXPECT_NE(body_of(schedule).find("for ax0 in 0..3"), std::string::npos) << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(Gather, OneColumnOfTheDataIsComputedForOne) {
  const Program before = make_gather();
  Schedule schedule(before);
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("O"));
  schedule.reorder({loops[1], loops[0]});
  schedule.compute_at(schedule.get_block("W"), loops[1]);
  expect_sound(before, schedule);
}

TEST(Gather, AReaderIsNotPutIntoTheDatasProducer) {
  Schedule schedule(make_program("{n: 5, k: 6}",
                                 "{X: {shape: [n, k], dtype: i32}, I: {shape: [n], dtype: i32}}",
                                 "W[r<n, c<k] = X[r, c] + 1\n  O[i<n, c<k] = W[at(I[i]), c]"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline",
                 "the block does not read its producer's buffer element by element",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(Gather, AReaderIsPutIntoTheIndexsProducer) {
  const Program before =
      make_program("{n: 5, m: 3}", "{W: {shape: [m], dtype: i32}, I: {shape: [n], dtype: i32}}",
                   "J[i<n] = I[i] // 100\n  O[i<n] = W[at(J[i])]");
  Schedule schedule(before);
  schedule.reverse_compute_inline(schedule.get_block("O"));
  expect_sound(before, schedule);
}

TEST(Gather, CopiesOfTheDataOfTheIndexAndOfBothTogether) {
  const Program before = make_gather();
  for (const int read : {0, 1}) {
    Schedule schedule(before);
    const BlockRV block = schedule.get_block("O");
    schedule.cache_read(block, read, "local");
    expect_sound(before, schedule);
    const BlockRV copy = schedule.reindex(block, "read", read);
    expect_sound(before, schedule);
    schedule.compute_at(copy, schedule.get_loops(block)[0]);
    expect_sound(before, schedule);
  }
}

TEST(Gather, ACopyOfWhatIsGatheredStandsBehindTheIndexsProducer) {
  Schedule schedule(make_program("{n: 5, m: 3}", "{W: {shape: [m], dtype: i32}, I: {shape: [n], dtype: i32}}",
                                 "J[i<n] = I[i] // 100\n  O[i<n] = W[at(J[i])]"));
  const BlockRV block = schedule.get_block("O");
  schedule.compute_at(schedule.get_block("J"), schedule.get_loops(block)[0]);
  expect_refused(schedule, "reindex", "a writer of the buffer stands in the loop nest of the reader",
                 [&] { schedule.reindex(block, "read", 0); });
}

TEST(Gather, LoopsAreSplitVectorizedUnrolledAndParallel) {
  const Program before = make_gather();
  for (const int64_t factor : {2, 3, 4}) {
    Schedule schedule(before);
    const BlockRV block = schedule.get_block("O");
    const std::vector<LoopRV> rows = schedule.split(schedule.get_loops(block)[0], {std::nullopt, factor});
    const LoopRV column = schedule.get_loops(block)[2];
    schedule.reorder({column, rows[1]});
    schedule.vectorize(rows[1]);
    schedule.parallel(rows[0]);
    expect_sound(before, schedule);
  }
}

TEST(Gather, ASumOfGatheredTermsIsFactored) {
  const Program before =
      make_program("{n: 4, m: 3, k: 12}", "{W: {shape: [m], dtype: i32}, I: {shape: [n, k], dtype: i32}}",
                   "O[i<n] = sum(r<k) W[at(I[i, r] // 100)]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  const std::vector<LoopRV> parts = schedule.split(schedule.get_loops(block)[1], {std::nullopt, 4});
  schedule.rfactor(parts[1], 0);
  expect_sound(before, schedule);
}

TEST(Gather, ARegisterBufferIsNotReadAtData) {
  Schedule schedule(make_program("{m: 3, k: 4}",
                                 "{X: {shape: [m, k], dtype: i32}, I: {shape: [1], dtype: i32}}",
                                 "W[r<m, c<k] = X[r, c] + 1\n  O[c<k] = W[at(I[0]), c]"));
  schedule.set_scope(schedule.get_block("W"), 0, "register");
  for (const char* block : {"W", "O"}) {
    for (const LoopRV loop : schedule.get_loops(schedule.get_block(block))) schedule.unroll(loop);
  }
  EXPECT_THROW(lower(schedule.program(), LowerOptions{}), LowerError);
}

// The copy would read I[-1]; in the block a select prevents that.
TEST(Gather, IsNotCopiedWhereItsIndexMayNotBeRead) {
  Schedule schedule(make_program("{n: 8, m: 5}", "{W: {shape: [m], dtype: f32}, I: {shape: [n], dtype: i32}}",
                                 "J[i<n] = W[at(I[i])]\n  O[i<n] = inside(J[i - 1], 0)"));
  schedule.compute_inline(schedule.get_block("J"));
  const BlockRV block = schedule.get_block("O");
  for (const int read : {0, 1}) {
    expect_refused(schedule, "reindex_cache_read", "the access may lie outside the buffer",
                   [&] { schedule.reindex_cache_read(block, read, "global", "(i) -> (i)"); });
  }
}

}  // namespace
}  // namespace tunesmith::test
