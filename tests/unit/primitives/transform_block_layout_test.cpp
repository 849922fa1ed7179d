#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(TransformBlockLayout, ConvolutionAsAMatrixProduct) {
  const Program before = make_conv(5, 2, 3, 1, 0, 1);
  Schedule schedule(before);
  const BlockRV o = schedule.get_block("O");
  schedule.transform_block_layout(o, "(y, x, f, ky, kx, c) -> (y*3 + x, f, (ky*3 + kx)*2 + c)");
  EXPECT_EQ(schedule.get_loops(o).size(), 3U);
  EXPECT_EQ(schedule.block(o).iters[2].kind, IterKind::Reduction);
  expect_sound(before, schedule);
}

/// The parser and visitors of expressions are recursive.
TEST(TransformBlockLayout, OfALongMapNoMoreIsReadThanALimit) {
  Schedule schedule(make_gmm(4, 6, 5));
  const BlockRV c = schedule.get_block("C");
  const auto many = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  constexpr int kMany = 100'000;
  for (const std::string& map :
       {"(i, j, k) -> (" + many("(", kMany) + "i, j, k)", "(i, j, k) -> " + many("(", kMany) + "i",
        "(i, j, k) -> (i" + many(" + 0*i", kMany) + ", j, k)", "(i" + many(", a", kMany) + ") -> (i)"}) {
    expect_refused(schedule, "transform_block_layout", "the index map cannot be read",
                   [&] { schedule.transform_block_layout(c, map); });
  }
}

TEST(TransformBlockLayout, Refusals) {
  Schedule schedule(make_gmm(4, 6, 5));
  const BlockRV c = schedule.get_block("C");
  const auto refused = [&](const char* map, const char* reason) {
    expect_refused(schedule, "transform_block_layout", reason,
                   [&] { schedule.transform_block_layout(c, map); });
  };
  refused("(i, j) -> (i, j)", "the map needs one parameter for each iterator");
  refused("(i, j, k) -> (i, j)", "the index map is not one-to-one");
  refused("(i, j, k) -> (i, j*2, k)", "the map is not onto");
  refused("(i, j, k) -> (i, j*5 + k)", "an index mixes spatial and reduction iterators");
  refused("(i, j, k) -> (23 - i*6 - j, k)", "the map is not invertible");
  Schedule single(make_program("{n: 4}", "{A: {shape: [n, 1], dtype: f32}}",
                               "S[i<n] = sum(k<1) A[i, k]\n  O[i<n] = S[i] * 2"));
  const BlockRV sum = single.get_block("S");
  expect_refused(single, "transform_block_layout", "the map leaves the block without a reduction iterator",
                 [&] { single.transform_block_layout(sum, "(i, k) -> (i)"); });
  const auto loops = schedule.get_loops(c);
  const LoopRV unit = schedule.add_unit_loop(c);
  refused("(i, j, k) -> (j, i, k)", "a loop is no iterator of the block");
  schedule.fuse({loops[2], unit});
  schedule.split(loops[0], {2, 2});
  refused("(i, j, k) -> (j, i, k)", "an iterator of the block is not a single loop");

  Schedule shared(make_chain(4, 6));
  const BlockRV out = shared.get_block("C");
  shared.compute_at(shared.get_block("B"), shared.get_loops(out)[0]);
  expect_refused(shared, "transform_block_layout", "the block's loop nest contains other statements",
                 [&] { shared.transform_block_layout(out, "(i, j) -> (j, i)"); });
  Schedule parallel(make_chain(4, 6));
  const BlockRV b = parallel.get_block("B");
  parallel.parallel(parallel.get_loops(b)[0]);
  expect_refused(parallel, "transform_block_layout", "the loop is not serial",
                 [&] { parallel.transform_block_layout(b, "(i, j) -> (j, i)"); });
}

}  // namespace
}  // namespace tunesmith::test
