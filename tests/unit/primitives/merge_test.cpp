#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

Program one(const char* compute) {
  return make_program("{n: 6}", "{A: {shape: [n, n], dtype: f32}}", compute);
}

TEST(Merge, OuterLoopsAloneAndThreeNests) {
  const Program before =
      one("B[i<n, j<n] = A[i, j] + 1\n  S[i<n] = sum(k<n) B[i, k]\n  O[i<n, j<n] = B[i, n - 1 - j] * S[i]");
  Schedule schedule(before);
  const auto b = schedule.get_loops(schedule.get_block("B"));
  const auto s = schedule.get_loops(schedule.get_block("S"));
  const auto o = schedule.get_loops(schedule.get_block("O"));
  const LoopRV merged = schedule.merge({b[0], s[0], o[0]});
  EXPECT_EQ(schedule.get_child_blocks(merged).size(), 3U);
  schedule.parallel(merged);
  expect_sound(before, schedule);
}

TEST(Merge, Refusals) {
  const auto refused = [](const Program& program, const char* reason, size_t depth = 0, const char* a = "B",
                          const char* b = "O") {
    Schedule schedule(program);
    const LoopRV first = schedule.get_loops(schedule.get_block(a))[depth];
    const LoopRV second = schedule.get_loops(schedule.get_block(b))[depth];
    expect_refused(schedule, "merge", reason, [&] { schedule.merge({first, second}); });
  };
  const char* shares = "different iterations of the loops may touch the same element";
  refused(one("B[i<n, j<n] = A[i, j] + 1\n  O[i<n, j<n] = B[j, i]"), shares);
  refused(one("B[i<n] = A[i, 0] + 1\n  O[i<n] = B[n - 1 - i]"), shares);
  refused(one("B[i<n + 1] = A[i % n, 0] + 1\n  O[i<n] = B[i] + B[i + 1]"),
          "the loops have different extents");
  refused(one("B[i<n] = A[i, 0] + 1\n  O[i<n] = B[i] + B[(i + 1) % n]"), shares);
  refused(one("B[i<n, j<n] = A[i, j] + 1\n  O[i<n, j<n] = B[i, n - 1 - j]"), shares, 1);
  refused(one("B[i<n] = A[i, 0] + 1\n  O[i<n] = B[i]"), "the loop nests do not directly follow one another",
          0, "O", "B");
  Schedule schedule(make_chain(4, 4));
  const auto b = schedule.get_loops(schedule.get_block("B"));
  const auto c = schedule.get_loops(schedule.get_block("C"));
  const auto refuses = [&](const std::vector<LoopRV>& loops, const char* reason) {
    expect_refused(schedule, "merge", reason, [&] { schedule.merge(loops); });
  };
  refuses({b[0]}, "there are less than two loops");
  refuses({b[0], b[1]}, "a loop stands around another");
  refuses({b[0], c[1]}, "the loops are not equally deep");
  schedule.unroll(c[0]);
  refuses({b[0], c[0]}, "the loop is not serial");

  Schedule three(one("B[i<n] = A[i, 0] + 1\n  D[i<n] = A[i, 1]\n  O[i<n] = B[i] + D[i]"));
  const LoopRV loop = three.get_loops(three.get_block("B"))[0];
  const BlockRV d = three.get_block("D");
  const auto parts = three.split(three.get_loops(d)[0], {2, 3});
  three.compute_at(three.get_block("B"), three.get_loops(three.get_block("O"))[0]);
  const LoopRV inner = three.add_unit_loop(three.get_block("B"));
  expect_refused(three, "merge", "a loop is not the only child of the one around",
                 [&] { three.merge({parts[1], inner}); });
  (void)loop;
}

}  // namespace
}  // namespace tunesmith::test
