#include <set>

#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

const SamplingKind& sampling() {
  return static_cast<const SamplingKind&>(*InstructionRegistry::global().find("sample_compute_location"));
}

TEST(SampleComputeLocation, OffersTheRootInliningAndTheLegalLoopsOfTheConsumer) {
  const Program program = test::make_chain(4, 2);
  Schedule schedule(program, RandomStream(1));
  const LoopRV location = schedule.sample_compute_location(schedule.get_block("B"));
  ASSERT_EQ(schedule.sampling_points().size(), 1U);
  EXPECT_EQ(schedule.sampling_points()[0].domain.candidates, (std::vector<int64_t>{-2, -1, 0, 1}));
  schedule.compute_at(schedule.get_block("B"), location);
  test::expect_sound(program, schedule, 1e-5);
}

TEST(SampleComputeLocation, AnOutputStaysWhereItIs) {
  Schedule schedule(test::make_chain(4, 2));
  const LoopRV location = schedule.sample_compute_location(schedule.get_block("C"));
  EXPECT_EQ(schedule.location(location), kRootLocation);
  EXPECT_EQ(schedule.sampling_points()[0].domain.candidates, std::vector<int64_t>{-1});
}

TEST(SampleComputeLocation, EveryDecisionIsCarriedOut) {
  const Program program = test::make_chain(4, 2);
  const auto with_decision = [&](const std::string& decision) {
    const auto schedule = replay(program, Trace::parse("b = get_block(\"B\")\n"
                                                       "l = sample_compute_location(b) @ " +
                                                       decision + "\ncompute_at(b, l)\n"));
    EXPECT_TRUE(schedule.has_value());
    return std::pair(schedule->trace()[1].decision, to_string(schedule->program()));
  };
  std::set<std::string> programs;
  for (int64_t decision : {-2, -1, 0, 1}) {
    const auto [taken, text] = with_decision(std::to_string(decision));
    EXPECT_EQ(taken, Decision{decision});
    programs.insert(text);
  }
  EXPECT_EQ(programs.size(), 4U);
  EXPECT_EQ(with_decision("7").first, Decision{1});
  EXPECT_EQ(with_decision("-9").first, Decision{-1});
}

TEST(SampleComputeLocation, MovesToEveryOtherLocation) {
  SamplingDomain domain;
  domain.candidates = {-2, -1, 0, 3};
  EXPECT_EQ(sampling().enumerate(domain, {-1}), (std::vector<Decision>{{-2}, {0}, {3}}));
  EXPECT_EQ(sampling().repair(domain, {2}), Decision{0});
  ASSERT_EQ(sampling().count(domain), 4U);
  EXPECT_EQ(sampling().at(domain, 0), Decision{-2});
  EXPECT_EQ(sampling().at(domain, 3), Decision{3});
  const std::vector<double> deep = sampling().encode(domain, {3});
  domain.candidates = {-1, 3};
  EXPECT_EQ(sampling().encode(domain, {3}), deep) << "a place is where it is, whatever others are legal";
  EXPECT_LT(sampling().encode(domain, {-1}), deep);
  domain.candidates = {-2, -1, 0, 3};
  std::set<Decision> drawn;
  std::set<Decision> mutated;
  RandomStream random(1);
  for (int i = 0; i < 200; ++i) {
    drawn.insert(sampling().propose(domain, random));
    mutated.insert(*sampling().mutate(domain, {0}, random));
  }
  EXPECT_EQ(drawn, (std::set<Decision>{{-2}, {-1}, {0}, {3}}));
  EXPECT_EQ(mutated, (std::set<Decision>{{-2}, {-1}, {3}}));
  domain.candidates = {-1};
  EXPECT_EQ(sampling().mutate(domain, {-1}, random), std::nullopt);
}

}  // namespace
}  // namespace tunesmith
