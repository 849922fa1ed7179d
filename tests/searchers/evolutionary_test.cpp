// The evolutionary search with programs of similar tasks.
#include "synthetic.h"

namespace tunesmith::test {
namespace {

/// Points of the wide sketch near the fastest.
std::vector<Trace> good_seeds(const SyntheticContext& context) {
  std::vector<Trace> seeds;
  for (const Decision& tile : {Decision{4, 8, 2}, Decision{8, 4, 2}, Decision{4, 4, 4}, Decision{2, 16, 2}}) {
    Trace trace = context.sketches().front().trace();
    const std::vector<size_t> positions = trace.sampling();
    trace = trace.with_decision(positions[0], tile);
    trace = trace.with_decision(positions[1], {2, 4, 8});
    seeds.push_back(trace.with_decision(positions[2], {2}));
  }
  return seeds;
}

/// The number of seeds at the start of a round, in their order.
size_t seeds_first(const std::vector<CandidatePtr>& round, const std::vector<Trace>& seeds) {
  size_t count = 0;
  while (count < std::min(round.size(), seeds.size()) && round[count]->trace == seeds[count]) ++count;
  return count;
}

TEST(Evolutionary, SeedsHaveAShareOfTheRoundsUntilTheyAreMeasured) {
  PluginRegistry registry;
  SyntheticContext context(1);
  const std::vector<Trace> seeds = good_seeds(context);
  context.set_seeds(seeds);
  const auto searcher = make_searcher(registry, "evolutionary",
                                      {option("seeded_share", {"0.25"}), option("first_round", {"12"})});
  EXPECT_EQ(seeds_first(context.round(*searcher, 12), seeds), 3U);
  const std::vector<CandidatePtr> second = context.round(*searcher, 12);
  EXPECT_EQ(second.size(), 12U);
  std::set<uint64_t> measured;
  for (const Measured& one : context.history().since(0)) measured.insert(one.candidate->trace.hash());
  for (const Trace& seed : seeds) EXPECT_TRUE(measured.contains(seed.hash()));
  EXPECT_LE(context.best(), 1.05) << "the first is the fastest of all";
}

TEST(Evolutionary, ProposesNoMoreAtATimeThanIsKnown) {
  PluginRegistry registry;
  SyntheticContext context(1);
  const auto searcher = make_searcher(registry, "evolutionary");
  for (const size_t size : {8, 8, 16, 32, 40}) EXPECT_EQ(context.round(*searcher, 40).size(), size);
}

TEST(Evolutionary, GoesItsOwnWayWithoutSeeds) {
  PluginRegistry registry;
  SyntheticContext without(1);
  SyntheticContext with(1);
  with.set_seeds(good_seeds(with));
  const auto plain = make_searcher(registry, "evolutionary");
  const auto deaf = make_searcher(registry, "evolutionary", {option("seeds", {"false"})});
  const auto a = without.round(*plain, 16);
  const auto b = with.round(*deaf, 16);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->lowered_hash, b[i]->lowered_hash);
}

TEST(Evolutionary, TheSameSeedsGiveTheSamePrograms) {
  PluginRegistry registry;
  SyntheticContext one(3);
  SyntheticContext other(3);
  one.set_seeds(good_seeds(one));
  other.set_seeds(good_seeds(other));
  const auto first = make_searcher(registry, "evolutionary");
  const auto second = make_searcher(registry, "evolutionary");
  for (int round = 0; round < 3; ++round) {
    const auto a = one.round(*first, 16);
    const auto b = other.round(*second, 16);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->lowered_hash, b[i]->lowered_hash);
  }
}

}  // namespace
}  // namespace tunesmith::test
