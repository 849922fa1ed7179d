#include "primitives/compute_location.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(ComputeAt, AHaloWithStrideIsExact) {
  const Program before = make_conv(8, 2, 3, 2, 1, 1);
  Schedule schedule(before);
  const std::vector<LoopRV> y =
      schedule.split(schedule.get_loops(schedule.get_block("O"))[0], {std::nullopt, 2});
  schedule.compute_at(schedule.get_block("P"), y[0]);
  // Two output rows with stride 2 and three taps read five input rows.
  EXPECT_NE(body_of(schedule).find("for ax0 in 0..5:"), std::string::npos) << body_of(schedule);
  EXPECT_NE(body_of(schedule).find("y_0*4 + ax0"), std::string::npos) << body_of(schedule);
  EXPECT_EQ(body_of(schedule).find("where"), std::string::npos) << body_of(schedule);
  expect_sound(before, schedule);
}

struct Shape {
  int64_t size, channels, kernel, stride, padding, dilation;
};

class ComputeAtConv : public testing::TestWithParam<Shape> {};

TEST_P(ComputeAtConv, AtEveryLoopOfATiledConsumer) {
  const Shape s = GetParam();
  const Program before = make_conv(s.size, s.channels, s.kernel, s.stride, s.padding, s.dilation);
  for (const int64_t tile : {2, 3}) {
    Schedule tiled(before);
    const BlockRV consumer = tiled.get_block("O");
    const std::vector<LoopRV> loops = tiled.get_loops(consumer);
    const std::vector<LoopRV> y = tiled.split(loops[0], {std::nullopt, tile});
    const std::vector<LoopRV> x = tiled.split(loops[1], {std::nullopt, tile});
    const std::vector<LoopRV> c = tiled.split(loops[5], {std::nullopt, 2});
    tiled.reorder({y[0], x[0], loops[2], c[0], loops[3], loops[4], y[1], x[1], c[1]});
    for (const LoopRV& loop : tiled.get_loops(consumer)) {
      Schedule schedule = tiled.clone();
      schedule.compute_at(schedule.get_block("P"), loop);
      expect_sound(before, schedule);
      EXPECT_EQ(schedule.program().root().children().size(), 1u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ComputeAtConv,
                         testing::Values(Shape{6, 2, 3, 1, 1, 1}, Shape{7, 3, 3, 2, 1, 1},
                                         Shape{7, 2, 3, 1, 2, 2}, Shape{9, 1, 2, 3, 0, 2},
                                         Shape{5, 2, 1, 1, 0, 1}, Shape{5, 3, 5, 1, 2, 1}));

TEST(ComputeAt, AReductionMovesWhole) {
  const Program before = make_program("{n: 6, m: 5}", "{A: {shape: [n, m], dtype: i32}}",
                                      "B[i<n] = sum(r<m) A[i, r]\n"
                                      "  O[i<n - 2] = B[i] + B[i + 2]");
  for (const bool ragged : {false, true}) {
    Schedule schedule(before);
    const std::vector<LoopRV> i =
        schedule.split(schedule.get_loops(schedule.get_block("O"))[0], {std::nullopt, ragged ? 3 : 2});
    schedule.compute_at(schedule.get_block("B"), i[0]);
    expect_sound(before, schedule);
    schedule.parallel(i[0]);
    expect_sound(before, schedule);
  }
}

TEST(ComputeAt, ChainsOfProducersShareLoops) {
  const Program before = make_program("{n: 11}", "{A: {shape: [n, n], dtype: i32}}",
                                      "B[i<n, j<n] = A[i, j] * 3\n"
                                      "  C[i<n - 2, j<n] = B[i, j] + B[i + 1, j] + B[i + 2, j]\n"
                                      "  D[i<n - 2, j<n - 2] = C[i, j] + C[i, j + 2]\n"
                                      "  O[j<n - 2, i<n - 2] = D[i, j] + 1");
  for (size_t outer = 0; outer < 4; ++outer) {
    for (size_t inner = 0; inner < 4; ++inner) {
      Schedule schedule(before);
      const BlockRV out = schedule.get_block("O");
      const std::vector<LoopRV> loops = schedule.get_loops(out);
      const std::vector<LoopRV> j = schedule.split(loops[0], {std::nullopt, 4});
      const std::vector<LoopRV> i = schedule.split(loops[1], {std::nullopt, 3});
      const std::vector<LoopRV> order = {j[0], i[0], j[1], i[1]};
      schedule.reorder(order);
      const BlockRV d = schedule.get_block("D");
      schedule.compute_at(d, order[outer]);
      expect_sound(before, schedule);
      const std::vector<LoopRV> around_d = schedule.get_loops(d);
      schedule.compute_at(schedule.get_block("C"), around_d[std::min(inner, around_d.size() - 1)]);
      expect_sound(before, schedule);
      schedule.compute_at(schedule.get_block("B"), schedule.get_loops(schedule.get_block("C"))[0]);
      expect_sound(before, schedule);
    }
  }
}

TEST(ComputeAt, AFusedConsumer) {
  const Program before = make_chain(6, 7);
  for (const int64_t tile : {7, 14, 5}) {
    Schedule schedule(before);
    const LoopRV fused = schedule.fuse(schedule.get_loops(schedule.get_block("C")));
    const std::vector<LoopRV> parts = schedule.split(fused, {std::nullopt, tile});
    schedule.compute_at(schedule.get_block("B"), parts[0]);
    expect_sound(before, schedule);
  }
}

TEST(ComputeAt, TheRootChangesNothingAndInliningInlines) {
  const Program before = make_chain(4, 3);
  Program program = before.clone();
  const std::string text = to_string(program);
  Schedule schedule(before);
  EXPECT_EQ(text_of(schedule), text);
  const BlockId b = program.find_block("B")->id;
  EXPECT_EQ(legal_compute_depths(program, b), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(loop_at_depth(program, b, 1), loops_above(*program.find_block("C"))[1]->id);
  EXPECT_TRUE(legal_compute_depths(program, program.find_block("C")->id).empty());
}

TEST(ComputeAt, LegalLocationsStopAtAReduction) {
  const Program program = make_conv(6, 2, 3, 1, 1, 1);
  EXPECT_EQ(legal_compute_depths(program, program.find_block("P")->id), (std::vector<int64_t>{0, 1, 2}));
}

TEST(ComputeAt, RefusesAnOutput) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  const LoopRV loop = schedule.get_loops(schedule.get_block("B"))[0];
  expect_refused(schedule, "compute_at", "the block writes an output of the program",
                 [&] { schedule.compute_at(block, loop); });
}

TEST(ComputeAt, RefusesAConsumerElsewhere) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}",
                                 "B[i<n] = A[i] + 1\n  C[i<n] = B[i] * 2\n  O[i<n] = B[i] + C[i]"));
  const BlockRV block = schedule.get_block("B");
  const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[0];
  expect_refused(schedule, "compute_at", "a consumer stands outside the loop",
                 [&] { schedule.compute_at(block, loop); });
}

TEST(ComputeAt, RefusesAVectorizedLoop) {
  Schedule schedule(make_chain(4, 8));
  const BlockRV block = schedule.get_block("B");
  const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[1];
  schedule.vectorize(loop);
  expect_refused(schedule, "compute_at", "the loop is vectorized", [&] { schedule.compute_at(block, loop); });
}

TEST(ComputeAt, RefusesADecomposedReduction) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n] = sum(r<n) A[i, r]\n  O[i<n] = B[i] + 1"));
  const BlockRV block = schedule.get_block("B");
  const LoopRV loop = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.decompose_reduction(block, schedule.get_loops(block)[1]);
  expect_refused(schedule, "compute_at", "the block is not the only writer of its buffer",
                 [&] { schedule.compute_at(block, loop); });
}

// Neighbouring iterations compute P again, each in its own buffer while C reads it inside.
TEST(ComputeAt, RefusesToLeaveConcurrentIterationsWithOneBuffer) {
  Schedule schedule(make_program("{n: 6}", "{X: {shape: [n], dtype: i32}}",
                                 "P[i<n] = X[i] * 2\n"
                                 "  C[i<n - 1] = P[i] + P[i + 1]\n"
                                 "  O[i<n - 1] = C[i] + 1"));
  const BlockRV c = schedule.get_block("C");
  const LoopRV loop = schedule.get_loops(c)[0];
  schedule.compute_at(schedule.get_block("P"), loop);
  schedule.parallel(loop);
  const LoopRV elsewhere = schedule.get_loops(schedule.get_block("O"))[0];
  expect_refused(schedule, "compute_at", "a concurrent loop would no longer be legal",
                 [&] { schedule.compute_at(c, elsewhere); });
  expect_refused(schedule, "compute_inline", "a concurrent loop would no longer be legal",
                 [&] { schedule.compute_inline(c); });
}

// D reads C, which is computed tile by tile under O's loops: D's own tile must not reach beyond.
TEST(ComputeAt, RefusesWhatAnIterationAroundDoesNotWrite) {
  Schedule schedule(make_program("{n: 8}", "{A: {shape: [n], dtype: i32}}",
                                 "C[i<n] = A[i] * 3\n"
                                 "  D[i<n] = C[i] + 1\n"
                                 "  O[i<n, j<n] = D[i] + C[i] + D[j]"));
  const BlockRV c = schedule.get_block("C");
  const BlockRV d = schedule.get_block("D");
  const LoopRV i = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.compute_at(d, i);
  const LoopRV around_d = schedule.get_loops(d)[1];
  expect_refused(schedule, "compute_at", "a consumer stands outside the loop",
                 [&] { schedule.compute_at(c, around_d); });
}

}  // namespace
}  // namespace tunesmith::test
