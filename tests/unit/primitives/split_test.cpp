#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using test::expect_refused;
using Factors = std::vector<std::optional<IntArg>>;

TEST(Split, TakesSampledFactors) {
  const Program program = test::make_gmm(32, 8, 4);
  Schedule schedule(program, RandomStream(7));
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto tile = schedule.sample_perfect_tile(loops[0], 2, 8);
  const auto parts = schedule.split(loops[0], Factors{tile[0], tile[1]});
  EXPECT_EQ(schedule.loop(parts[0]).const_extent(), schedule.value(tile[0]));
  EXPECT_EQ(schedule.loop(parts[1]).const_extent(), schedule.value(tile[1]));
  test::expect_sound(program, schedule, 1e-5);
}

TEST(Split, Refusals) {
  const Program program = test::make_gmm(32, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto refused = [&](const Factors& factors, std::string_view reason) {
    expect_refused(schedule, "split", reason, [&] { schedule.split(loops[0], factors); });
  };
  refused({}, "there are no factors");
  refused({std::nullopt, 2, std::nullopt}, "more than one factor is None");
  refused({0, 32}, "a factor is less than one");
  refused({-4, -8}, "a factor is less than one");
  refused({4, 7}, "the product of the factors is less than the extent");
  refused({int64_t{1} << 39, 4}, "the product of the factors is too large");
  refused({int64_t{1} << 62, 4}, "the product of the factors is too large");

  schedule.annotate(loops[1], "key", int64_t{1});
  expect_refused(schedule, "split", "the loop has annotations", [&] { schedule.split(loops[1], {4, 2}); });
  schedule.unannotate(loops[1], "key");
  schedule.unroll(loops[1]);
  expect_refused(schedule, "split", "the loop is not serial", [&] { schedule.split(loops[1], {4, 2}); });
  schedule.split(loops[0], {4, 8});
  expect_refused(schedule, "split", "the loop no longer exists", [&] { schedule.split(loops[0], {4, 8}); });
}

}  // namespace
}  // namespace tunesmith
