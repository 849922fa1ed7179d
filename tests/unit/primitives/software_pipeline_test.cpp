#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

const char* const kInputs = "{A: {shape: [n], dtype: f32}}";

/// The loop that reads B fills it in tiles of four.
const char* const kCompute = "B[i<n] = A[i] + 1\n  O[i<n] = B[i] * 2";

Schedule filled_in_tiles(const char* compute = kCompute, std::string_view scope = "shared") {
  Schedule s(make_program("{n: 12}", kInputs, compute));
  const std::vector<LoopRV> parts = s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, int64_t{4}});
  if (scope != kScopeGlobal) s.set_scope(s.get_block("B"), 0, scope);
  s.compute_at(s.get_block("B"), parts[0]);
  return s;
}

LoopRV tiles_of(Schedule& s) { return s.get_loops(s.get_block("O"))[0]; }

TEST(SoftwarePipeline, IsWhatTheLoopIsAnnotatedWith) {
  Schedule s = filled_in_tiles();
  const Program before = make_program("{n: 12}", kInputs, kCompute);
  s.software_pipeline(tiles_of(s), int64_t{3});
  EXPECT_NE(body_of(s).find("annotate software_pipeline = 3"), std::string::npos) << body_of(s);
  expect_sound(before, s);
}

TEST(SoftwarePipeline, OfOneStageIsNone) {
  Schedule s = filled_in_tiles();
  const std::string before = body_of(s);
  s.software_pipeline(tiles_of(s), int64_t{1});
  EXPECT_EQ(body_of(s), before);
}

TEST(SoftwarePipeline, Refusals) {
  const auto refused = [](Schedule& s, LoopRV loop, int64_t stages, const char* reason) {
    expect_refused(s, "software_pipeline", reason, [&] { s.software_pipeline(loop, stages); });
  };
  Schedule s = filled_in_tiles();
  refused(s, tiles_of(s), 0, "the number of stages is not between 1 and 16");
  refused(s, tiles_of(s), 17, "the number of stages is not between 1 and 16");
  refused(s, s.get_loops(s.get_block("O"))[1], 2, "the loop has one statement only");
  s.software_pipeline(tiles_of(s), int64_t{2});
  refused(s, tiles_of(s), 2, "the loop is already pipelined");

  Schedule unrolled = filled_in_tiles();
  unrolled.unroll(tiles_of(unrolled));
  refused(unrolled, tiles_of(unrolled), 2, "the loop is not serial");

  Schedule global = filled_in_tiles(kCompute, kScopeGlobal);
  refused(global, tiles_of(global), 2, "the first statements of the loop fill buffers in global memory");

  Schedule summed = filled_in_tiles("B[i<n] = sum(k<3) A[i] * f32(k)\n  O[i<n] = B[i] * 2");
  refused(summed, tiles_of(summed), 2, "the loop does not begin with statements that only fill buffers");

  Schedule chained = filled_in_tiles("D[i<n] = A[i] * 3\n  B[i<n] = D[i] + 1\n  O[i<n] = B[i] * 2");
  chained.set_scope(chained.get_block("D"), 0, "shared");
  chained.compute_at(chained.get_block("D"), tiles_of(chained));
  // D runs ahead, and B is its consumer.
  chained.software_pipeline(tiles_of(chained), int64_t{2});
}

TEST(SoftwarePipeline, RefusesWhatReadsTheLoopsResults) {
  Schedule s(make_program("{n: 12}", kInputs, "P[i<n] = A[i] * 2\n  B[i<n] = P[i] + 1\n  O[i<n] = B[i] * 2"));
  const LoopRV tiles = s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, int64_t{4}})[0];
  s.set_scope(s.get_block("B"), 0, "shared");
  s.compute_at(s.get_block("B"), tiles);
  s.compute_at(s.get_block("P"), tiles);
  expect_refused(s, "software_pipeline", "the first statements of the loop fill buffers in global memory",
                 [&] { s.software_pipeline(tiles, int64_t{2}); });
}

TEST(SoftwarePipeline, RefusesWhatIsFilledInSteps) {
  Schedule chained = filled_in_tiles("D[i<n] = A[i] * 3\n  B[i<n] = D[i] + 1\n  O[i<n] = B[i] * 2");
  chained.set_scope(chained.get_block("D"), 0, "shared");
  chained.compute_at(chained.get_block("D"), chained.get_loops(chained.get_block("B")).back());
  const LoopRV chained_tiles = tiles_of(chained);
  expect_refused(chained, "software_pipeline", "the first statements of the loop read what the loop writes",
                 [&] { chained.software_pipeline(chained_tiles, int64_t{2}); });

  Schedule summed = filled_in_tiles("B[i<n] = sum(k<3) A[i] * f32(k)\n  O[i<n] = B[i] * 2");
  const BlockRV sum = summed.get_block("B");
  summed.decompose_reduction(sum, summed.get_loops(sum)[1]);
  const LoopRV summed_tiles = tiles_of(summed);
  expect_refused(summed, "software_pipeline",
                 "the rest of the loop writes a buffer that its first statements fill",
                 [&] { summed.software_pipeline(summed_tiles, int64_t{2}); });
}

TEST(SoftwarePipeline, RefusesALoopThatOnlyFills) {
  Schedule s(
      make_program("{n: 12}", kInputs, "B[i<n] = A[i] + 1\n  D[i<n] = A[i] * 2\n  O[i<n] = B[i] + D[i]"));
  s.set_scope(s.get_block("B"), 0, "shared");
  s.set_scope(s.get_block("D"), 0, "shared");
  const LoopRV both = s.merge({s.get_loops(s.get_block("B"))[0], s.get_loops(s.get_block("D"))[0]});
  expect_refused(s, "software_pipeline", "the loop only fills memory",
                 [&] { s.software_pipeline(both, int64_t{2}); });
}

TEST(SoftwarePipeline, RefusesWhatIsUsedElsewhere) {
  Schedule s(
      make_program("{n: 12}", kInputs, "B[i<n] = A[i] + 1\n  D[i<n] = A[i] * 2\n  O[i<n] = B[i] + D[i]"));
  s.set_scope(s.get_block("B"), 0, "shared");
  const LoopRV both = s.merge({s.get_loops(s.get_block("B"))[0], s.get_loops(s.get_block("D"))[0]});
  expect_refused(s, "software_pipeline", "a buffer that the loop fills is used outside",
                 [&] { s.software_pipeline(both, int64_t{2}); });
}

}  // namespace
}  // namespace tunesmith::test
