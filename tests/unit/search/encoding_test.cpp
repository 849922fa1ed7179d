#include "tunesmith/search/encoding.h"

#include <set>

#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

Schedule tiled(const Program& program, uint64_t seed, int parts) {
  Schedule schedule(program, RandomStream(seed));
  schedule.sample_perfect_tile(schedule.get_loops(schedule.get_block("C"))[0], parts, 64);
  schedule.sample_categorical({8, 2, 4}, {0.5, 0.25, 0.25});
  return schedule;
}

TEST(Encoding, PointsOfASketchHaveOneKeyAndOneLength) {
  const Program program = test::make_gmm(64, 8, 4);
  const uint64_t key = sketch_key(tiled(program, 1, 3).trace());
  EXPECT_NE(sketch_key(tiled(program, 1, 4).trace()), key);
  std::set<std::vector<double>> encodings;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Schedule point = tiled(program, seed, 3);
    EXPECT_EQ(sketch_key(point.trace()), key);
    point.enter_finishing();
    EXPECT_EQ(sketch_key(point.trace()), key) << "what was finished is no part of the sketch";
    encodings.insert(encode(point.sampling_points(), point.trace()));
    EXPECT_EQ(encodings.begin()->size(), 6U) << "three factors and three categories";
  }
  EXPECT_GT(encodings.size(), 20U);
}

TEST(Encoding, CountsPoints) {
  const Program program = test::make_gmm(64, 8, 4);
  EXPECT_EQ(count_points(tiled(program, 1, 3).sampling_points()), 28 * 3);
  EXPECT_EQ(count_points({}), 1.0);
}

TEST(Encoding, WhatIsEncodedIsDecided) {
  const Program program = test::make_gmm(64, 8, 4);
  const Schedule point = tiled(program, 1, 3);
  EXPECT_THROW(encode(point.sampling_points(), point.trace().with_open_decisions()), InternalError);
}

}  // namespace
}  // namespace tunesmith
