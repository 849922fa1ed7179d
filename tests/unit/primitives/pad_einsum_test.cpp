#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(PadEinsum, EveryIteratorOfAProduct) {
  const Program before = make_gmm(5, 6, 7);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("C");
  schedule.pad_einsum(block, {4, 4, 4});
  EXPECT_EQ(body_of(schedule),
            "for ax0 in 0..8:\n"
            "  for ax1 in 0..8:\n"
            "    block A_pad(v0: spatial 8 = ax0, v1: spatial 8 = ax1):\n"
            "      A_pad[v0, v1] = select(v0 < 5 and v1 < 7, A[v0, v1], 0.0)\n"
            "for ax0 in 0..8:\n"
            "  for ax1 in 0..8:\n"
            "    block B_pad(v0: spatial 8 = ax0, v1: spatial 8 = ax1):\n"
            "      B_pad[v0, v1] = select(v0 < 7 and v1 < 6, B[v0, v1], 0.0)\n"
            "for i in 0..8:\n"
            "  for j in 0..8:\n"
            "    for k in 0..8:\n"
            "      block C(vi: spatial 8 = i, vj: spatial 8 = j, vk: reduction 8 = k):\n"
            "        init:\n"
            "          C_pad[vi, vj] = 0.0\n"
            "        C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk]*B_pad[vk, vj]\n"
            "for ax0 in 0..5:\n"
            "  for ax1 in 0..6:\n"
            "    block C_pad(v0: spatial 5 = ax0, v1: spatial 6 = ax1):\n"
            "      C[v0, v1] = C_pad[v0, v1]\n");
  expect_sound(before, schedule);
}

TEST(PadEinsum, SomeIteratorsAndWhatFollows) {
  const Program before = make_gmm(5, 6, 7);
  for (const std::vector<int64_t>& padding :
       {std::vector<int64_t>{1, 1, 8}, {1, 4, 1}, {3, 1, 1}, {1, 1, 1}, {5, 6, 7}}) {
    Schedule schedule(before);
    const BlockRV block = schedule.get_block("C");
    schedule.pad_einsum(block, padding);
    expect_sound(before, schedule);
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    schedule.split(loops[2], {std::nullopt, 4});
    for (const char* name : {"A_pad", "B_pad"}) {
      if (schedule.program().find_block(name) != nullptr)
        schedule.compute_at(schedule.get_block(name), loops[0]);
    }
    if (schedule.program().find_block("C_pad") != nullptr)
      schedule.reverse_compute_at(schedule.get_block("C_pad"), loops[0]);
    expect_sound(before, schedule);
  }
}

TEST(PadEinsum, AnElementwiseStage) {
  const Program before = make_chain(5, 6);
  Schedule schedule(before);
  schedule.pad_einsum(schedule.get_block("B"), {4, 4});
  expect_sound(before, schedule);
}

TEST(PadEinsum, RoundedFactorsAddZeroOverPadding) {
  const Program before =
      make_program("{n: 5}", "{A: {shape: [n, n], dtype: f32}, B: {shape: [n, n], dtype: f32}}",
                   "O[i<n, j<n] = sum(r<n) round_tf32(A[i, r]) * round_tf32(B[r, j])");
  Schedule schedule(before);
  schedule.pad_einsum(schedule.get_block("O"), {4, 4, 8});
  expect_sound(before, schedule);
}

TEST(PadEinsum, Refusals) {
  const auto refused = [](const Program& program, const char* name, const std::vector<int64_t>& padding,
                          const char* reason) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block(name);
    expect_refused(schedule, "pad_einsum", reason, [&] { schedule.pad_einsum(block, padding); });
  };
  const Program gmm = make_gmm(5, 6, 7);
  refused(gmm, "C", {4, 4}, "expected one multiple for each iterator");
  refused(gmm, "C", {4, 4, 0}, "a multiple is not between 1 and 2^20");
  refused(make_conv(5, 2, 3, 1, 1, 1), "O", {4, 1, 1, 1, 1, 1}, "a padded iterator is part of an index");
  const auto one = [](const char* compute) {
    return make_program("{n: 5}", "{A: {shape: [n, n], dtype: f32}}", compute);
  };
  refused(one("O[i<n] = max(r<n) A[i, r]"), "O", {1, 4},
          "cannot prove that a reduction over padding adds zero");
  refused(one("O[i<n] = sum(r<n) (A[i, r] + 1)"), "O", {1, 4},
          "cannot prove that a reduction over padding adds zero");
  refused(one("O[i<n] = sum(r<n) exp(A[i, r])"), "O", {1, 4},
          "cannot prove that a reduction over padding adds zero");
  refused(one("O[i<n] = sum(r<n - 1) A[i, r] * A[r, i]"), "O", {1, 3},
          "a padded iterator does not run over the whole of a dimension");
  refused(one("O[i<n] = select(i < 3, A[i, 0], A[i, 1])"), "O", {4}, "a padded iterator decides a condition");
  refused(gmm, "C", {1 << 20, 1 << 20, 1 << 20}, "a padded buffer has more than 2^36 elements");
  Schedule gaps(gmm);
  const BlockRV copy = gaps.cache_write(gaps.get_block("C"), 0, "global");
  gaps.transform_layout(copy, "read", 0, "(i, j) -> (i, j + 2)");
  expect_refused(gaps, "pad_einsum", "the buffer has elements that nothing writes",
                 [&] { gaps.pad_einsum(copy, {2, 1}); });
  Schedule split(gmm);
  const BlockRV block = split.get_block("C");
  split.split(split.get_loops(block)[0], {std::nullopt, 2});
  expect_refused(split, "pad_einsum", "an iterator of the block is not a single loop",
                 [&] { split.pad_einsum(block, {2, 1, 1}); });
  Schedule shared(one("B[i<n, j<n] = A[i, j] + 1\n  O[i<n, j<n] = B[i, j] * 2"));
  const BlockRV out = shared.get_block("O");
  shared.compute_at(shared.get_block("B"), shared.get_loops(out)[0]);
  expect_refused(shared, "pad_einsum", "the block's loop nest contains other statements",
                 [&] { shared.pad_einsum(out, {1, 4}); });
}

}  // namespace
}  // namespace tunesmith::test
