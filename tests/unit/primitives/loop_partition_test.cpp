#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// A convolution whose padding is inlined into the sum.
Schedule inlined_conv(const Program& program) {
  Schedule schedule(program);
  schedule.compute_inline(schedule.get_block("P"));
  return schedule;
}

TEST(LoopPartition, TheFirstPieceInitializes) {
  const Program before = make_gmm(4, 3, 6);
  Schedule schedule(before);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto parts = schedule.loop_partition(loops[2], {int64_t{1}, int64_t{4}});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(body_of(schedule),
            "for i in 0..4:\n"
            "  for j in 0..3:\n"
            "    for k in 0..1:\n"
            "      block C(vi: spatial 4 = i, vj: spatial 3 = j, vk: reduction 1 = 0):\n"
            "        init:\n"
            "          C[vi, vj] = 0.0\n"
            "        C[vi, vj] = C[vi, vj] + A[vi, 0]*B[0, vj]\n"
            "    for k in 0..3:\n"
            "      block C_1(vi: spatial 4 = i, vj: spatial 3 = j, vk: reduction 3 = k):\n"
            "        C[vi, vj] = C[vi, vj] + A[vi, vk + 1]*B[vk + 1, vj]\n"
            "    for k in 0..2:\n"
            "      block C_2(vi: spatial 4 = i, vj: spatial 3 = j, vk: reduction 2 = k):\n"
            "        C[vi, vj] = C[vi, vj] + A[vi, vk + 4]*B[vk + 4, vj]\n");
  EXPECT_EQ(schedule.loop(parts[0]).id, schedule.loop(loops[2]).id);
  expect_sound(before, schedule);
  expect_replays(before, schedule);
}

TEST(LoopPartition, TheInteriorOfAConvolutionHasNoPadding) {
  const Program before = make_conv(6, 2, 3, 1, 1, 1);
  Schedule schedule = inlined_conv(before);
  const auto loops = schedule.get_loops(schedule.get_block("O"));
  schedule.loop_partition(loops[0], {int64_t{1}, int64_t{5}});
  const auto interior = schedule.get_loops(schedule.get_block("O_1"));
  const auto columns = schedule.loop_partition(interior[1], {int64_t{1}, int64_t{5}});
  const auto blocks = schedule.get_child_blocks(columns[1]);
  const std::string text = body_of(schedule);
  const std::string name = schedule.block(blocks[0]).name;
  const size_t at = text.find("block " + name + "(");
  EXPECT_EQ(text.substr(at, text.find("for", at) - at).find("select"), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(LoopPartition, APieceOfAnInnerTileGetsAnIteratorForEachLoop) {
  const Program before = make_chain(8, 6);
  Schedule schedule(before);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto tiles = schedule.split(loops[0], {2, 4});
  schedule.loop_partition(tiles[1], {int64_t{3}});
  EXPECT_NE(
      body_of(schedule).find("block C(vi_0: spatial 2 = i_0, vi_1: spatial 3 = i_1, vj: spatial 6 = j):\n"
                             "        C[vi_0*4 + vi_1, vj]"),
      std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(LoopPartition, PredicatesGoWhereTheyHold) {
  const Program before = make_chain(10, 6);
  Schedule schedule(before);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto tiles = schedule.split(loops[0], {std::nullopt, 4});
  schedule.loop_partition(tiles[0], {int64_t{2}});
  const std::string text = body_of(schedule);
  EXPECT_EQ(text.find("where"), text.rfind("where")) << text;
  EXPECT_NE(text.find("where i_1 < 2"), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(LoopPartition, ProducersUnderTheLoopGoAlong) {
  const Program before = make_conv(6, 2, 3, 1, 1, 1);
  Schedule schedule(before);
  const auto loops = schedule.get_loops(schedule.get_block("O"));
  const auto tiles = schedule.split(loops[0], {3, 2});
  schedule.compute_at(schedule.get_block("P"), tiles[0]);
  schedule.loop_partition(tiles[0], {int64_t{1}});
  expect_sound(before, schedule);
}

TEST(LoopPartition, ABlockThatNeverRunsIsNotTakenOutOfAllPieces) {
  Schedule schedule(
      std::move(WorkloadDefinition::parse(
                    "name: t\ninputs: {X: {shape: [2, 4, 2], dtype: f32}}\ncompute: |\n"
                    "  S[a<4] = select(a >= 1 and a < 3, inside(X[a // 2, a - 3, a - 1], 0.5), 0.5)\n"
                    "outputs: [S]\n",
                    "t.yaml")
                    .instantiate()
                    .program));
  const LoopRV loop = schedule.get_loops(schedule.get_block("S"))[0];
  schedule.compute_at(schedule.cache_read(schedule.get_block("S"), 0, "register"), loop);
  expect_refused(schedule, "loop_partition", "a block runs in no piece",
                 [&] { schedule.loop_partition(loop, {int64_t{2}}); });
}

TEST(LoopPartition, Refusals) {
  Schedule schedule(make_chain(10, 6));
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto refused = [&](LoopRV loop, const std::vector<IntArg>& points, const char* reason) {
    expect_refused(schedule, "loop_partition", reason, [&] { schedule.loop_partition(loop, points); });
  };
  refused(loops[0], {}, "there are no points");
  refused(loops[0], {int64_t{0}}, "the points are not increasing within the loop's range");
  refused(loops[0], {int64_t{3}, int64_t{3}}, "the points are not increasing within the loop's range");
  refused(loops[0], {int64_t{10}}, "the points are not increasing within the loop's range");
  const auto tiles = schedule.split(loops[0], {4, 4});
  refused(tiles[1], {int64_t{1}}, "the instances of a block in a piece cannot be determined");
  refused(tiles[0], {int64_t{3}}, "nothing runs in a piece");
  schedule.unroll(tiles[0]);
  refused(tiles[0], {int64_t{1}}, "the loop is not serial");
}

}  // namespace
}  // namespace tunesmith::test
