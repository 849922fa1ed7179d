#include "tunesmith/analysis/accesses.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// Both C and O read A.
Program make_two_readers() {
  return make_program("{n: 4, m: 3}", "{A: {shape: [n, m], dtype: f32}}",
                      "C[i<n] = sum(j<m) A[i, j]\n  O[i<n, j<m] = A[i, j] * C[i]");
}

void read_copy(Schedule& schedule, BlockRV block, int64_t read, BlockRV copy) {
  schedule.execute(*InstructionRegistry::global().find("read_copy"), {block, read, copy});
}

int64_t read_of(const Schedule& schedule, BlockRV block, const std::string& buffer) {
  const std::vector<Access> reads = read_accesses(schedule.block(block));
  for (size_t i = 0; i < reads.size(); ++i)
    if (reads[i].buffer->name == buffer) return static_cast<int64_t>(i);
  return -1;
}

TEST(ReadCopy, AnotherBlockReadsTheCopy) {
  const Program before = make_two_readers();
  Schedule schedule(before);
  const BlockRV copy = schedule.cache_read(schedule.get_block("C"), 0, "local");
  const BlockRV out = schedule.get_block("O");
  read_copy(schedule, out, read_of(schedule, out, "A"), copy);
  EXPECT_EQ(body_of(schedule),
            "for ax0 in 0..4:\n"
            "  for ax1 in 0..3:\n"
            "    block A_local(v0: spatial 4 = ax0, v1: spatial 3 = ax1):\n"
            "      A_local[v0, v1] = A[v0, v1]\n"
            "for i in 0..4:\n"
            "  for j in 0..3:\n"
            "    block C(vi: spatial 4 = i, vj: reduction 3 = j):\n"
            "      init:\n"
            "        C[vi] = 0.0\n"
            "      C[vi] = C[vi] + A_local[vi, vj]\n"
            "for i in 0..4:\n"
            "  for j in 0..3:\n"
            "    block O(vi: spatial 4 = i, vj: spatial 3 = j):\n"
            "      O[vi, vj] = A_local[vi, vj]*C[vi]\n");
  expect_sound(before, schedule);
}

TEST(ReadCopy, RefusesACopyBehindTheReader) {
  Schedule schedule(make_two_readers());
  const BlockRV sums = schedule.get_block("C");
  const BlockRV out = schedule.get_block("O");
  const BlockRV copy = schedule.cache_read(out, read_of(schedule, out, "A"), "local");
  expect_refused(schedule, "read_copy", "the copy does not stand before the loop nest of the block",
                 [&] { read_copy(schedule, sums, 0, copy); });
}

TEST(ReadCopy, RefusesACopyOfAnotherScope) {
  Schedule schedule(make_two_readers());
  const BlockRV sums = schedule.get_block("C");
  const BlockRV copy = schedule.cache_read(sums, 0, "local");
  const BlockRV out = schedule.get_block("O");
  const int64_t read = read_of(schedule, out, "A");
  schedule.blockize(schedule.get_loops(copy).front());
  expect_refused(schedule, "read_copy", "the copy stands in another scope than the block",
                 [&] { read_copy(schedule, out, read, copy); });
}

TEST(ReadCopy, RefusesWhatIsNoCopyOfTheBuffer) {
  Schedule schedule(make_two_readers());
  const BlockRV sums = schedule.get_block("C");
  const BlockRV out = schedule.get_block("O");
  const char* const reason = "the other block does not copy all of the buffer";
  const int64_t sum = read_of(schedule, out, "C");
  const int64_t matrix = read_of(schedule, out, "A");
  expect_refused(schedule, "read_copy", reason, [&] { read_copy(schedule, out, sum, sums); });
  const BlockRV copy = schedule.cache_read(sums, 0, "local");
  expect_refused(schedule, "read_copy", reason, [&] { read_copy(schedule, out, sum, copy); });
  schedule.transform_layout(copy, "write", 0, "(i, j) -> (j, i)");
  expect_refused(schedule, "read_copy", reason, [&] { read_copy(schedule, out, matrix, copy); });
}

TEST(ReadCopy, TakesACopyThatIsWholeWhenTheLoopsAroundItAreDone) {
  Schedule schedule(make_two_readers());
  const BlockRV copy = schedule.cache_read(schedule.get_block("C"), 0, "local");
  schedule.compute_at(copy, schedule.get_loops(schedule.get_block("C")).front());
  const BlockRV out = schedule.get_block("O");
  // It is complete after the loops.
  const int64_t read = read_of(schedule, out, "A");
  read_copy(schedule, out, read, copy);
  expect_sound(make_two_readers(), schedule);
  schedule.reverse_compute_at(out, schedule.get_loops(schedule.get_block("C")).front());
  expect_sound(make_two_readers(), schedule);
}

}  // namespace
}  // namespace tunesmith::test
