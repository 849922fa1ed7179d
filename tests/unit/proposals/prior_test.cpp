#include "tunesmith/proposals/prior.h"

#include <gmock/gmock.h>

#include "tunesmith/proposals/decide.h"
#include "tunesmith/support/error.h"
#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

/// A sketch with every kind of decision.
Schedule sketch_of(const Program& program, uint64_t seed) {
  Schedule schedule(program, RandomStream(seed));
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("C"));
  const std::vector<IntRV> tile = schedule.sample_perfect_tile(loops[0], 3, 64);
  schedule.split(loops[0], {tile[0], tile[1], tile[2]});
  schedule.sample_categorical({0, 16, 48}, {0.4, 0.3, 0.3});
  // The possible decisions here depend on earlier ones.
  schedule.sample_perfect_tile(schedule.get_loops(schedule.get_block("C"))[2], 2, 64);
  return schedule;
}

/// Programs that are worth learning have inner factors of 8 and unroll 16.
bool is_good(const Schedule& schedule) {
  const Trace& trace = schedule.trace();
  const std::vector<size_t> positions = trace.sampling();
  return trace[positions[0]].decision->back() == 8 && trace[positions[1]].decision->front() == 1;
}

PriorExample example_of(int64_t extent) {
  const Program program = test::make_gmm(extent, 16, 8);
  PriorExample example;
  example.task = describe_task(program, DeviceModel());
  for (uint64_t seed = 0; seed < 4000 && example.programs.size() < 12; ++seed) {
    const Schedule schedule = sketch_of(program, seed);
    if (!is_good(schedule)) continue;
    example.sketches.assign(1, schedule.trace().with_open_decisions());
    example.programs.push_back({0, steps_of(schedule.sampling_points(), schedule.trace())});
  }
  return example;
}

TEST(Prior, DecidesAsThePrograms) {
  std::vector<PriorExample> examples;
  for (const int64_t extent : {64, 96, 128, 320}) examples.push_back(example_of(extent));
  const Prior prior = train_prior(examples, {20, 0.05, 1}, {});
  const std::vector<PriorExample> unseen = {example_of(256)};
  EXPECT_GT(mean_log_likelihood(prior, unseen), mean_log_likelihood(Prior(), unseen) + 0.3);

  const Program program = test::make_gmm(256, 16, 8);
  const Trace sketch = sketch_of(program, 0).trace().with_open_decisions();
  const StepReader reader(describe_task(program, DeviceModel()));
  int good = 0;
  int drawn = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomStream random(seed);
    const auto decided =
        decide_by([&](std::span<const ChoiceFeatures> choices) { return prior.logits(choices); }, reader,
                  program, sketch, nullptr, 0.5, random);
    ASSERT_TRUE(decided) << decided.error().what();
    const auto replayed = replay(program, *decided, RandomStream(seed));
    ASSERT_TRUE(replayed);
    EXPECT_EQ(replayed->trace(), *decided) << "every choice was legal, so that nothing is repaired";
    good += is_good(*replayed) ? 1 : 0;
    drawn += is_good(sketch_of(program, seed)) ? 1 : 0;
  }
  EXPECT_GT(good, 60);
  EXPECT_LT(drawn, 20);
}

TEST(Prior, IsTheSameForTheSameExamplesAndReadsBack) {
  const std::vector<PriorExample> examples = {example_of(64), example_of(96)};
  const auto trained = [&](uint64_t seed) {
    return train_prior(examples, {3, 0.05, seed},
                       {"cpu", {"256 bits of vectors, 2 cores", "512 bits of vectors, 8 cores"}, 2, 24, seed})
        .save();
  };
  const std::string bytes = trained(7);
  EXPECT_EQ(trained(7), bytes);
  EXPECT_NE(trained(8), bytes);
  EXPECT_LE(bytes.size(), 8U << 20);
  const Prior back = Prior::load(bytes, "a.prior");
  EXPECT_EQ(back.save(), bytes);
  EXPECT_EQ(back.source.space, "cpu");
  EXPECT_THAT(back.source.machines,
              testing::ElementsAre("256 bits of vectors, 2 cores", "512 bits of vectors, 8 cores"));
  EXPECT_TRUE(back.knows(examples.front().sketches.front()));
  EXPECT_FALSE(back.knows(Schedule(test::make_gmm(64, 16, 8)).trace()));
  EXPECT_EQ(mean_log_likelihood(back, examples),
            mean_log_likelihood(Prior::load(bytes, "b.prior"), examples));
}

TEST(Prior, SaysWhatIsWrongWithAFile) {
  const std::vector<PriorExample> examples = {example_of(64)};
  const std::string bytes = train_prior(examples, {1, 0.05, 0}, {"cpu", {}, 1, 12, 0}).save();
  const auto refusal = [](std::string changed) {
    try {
      Prior::load(changed, "a.prior");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(""), testing::AllOf(testing::HasSubstr("a.prior"), testing::HasSubstr("not a prior")));
  EXPECT_THAT(refusal("# tunesmith prior 99\n"), testing::HasSubstr("version 99"));
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)), testing::HasSubstr("damaged"));
  std::string changed = bytes;
  changed[bytes.size() / 2] ^= 1;
  EXPECT_THAT(refusal(changed), testing::HasSubstr("damaged"));
}

TEST(Prior, TemperaturesSharpen) {
  const std::vector<double> logits = {0.0, 1.0, -1.0};
  const auto share = [&](double temperature) {
    RandomStream random(3);
    int first = 0;
    for (int i = 0; i < 2000; ++i) first += draw_choice(logits, temperature, random) == 1 ? 1 : 0;
    return first / 2000.0;
  };
  EXPECT_NEAR(share(1.0), 0.665, 0.04);
  EXPECT_GT(share(0.3), 0.93);
}

}  // namespace
}  // namespace tunesmith
