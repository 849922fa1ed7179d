#include "synthetic.h"

namespace tunesmith::test {
namespace {

std::vector<CandidatePtr> all_of(SyntheticContext& context, Searcher& searcher, size_t batch) {
  std::vector<CandidatePtr> all;
  for (;;) {
    const std::vector<CandidatePtr> proposed = context.round(searcher, batch);
    if (proposed.empty()) return all;
    EXPECT_LE(proposed.size(), batch);
    all.insert(all.end(), proposed.begin(), proposed.end());
  }
}

TEST(Exhaustive, ProposesEveryPointOnceAndEnds) {
  PluginRegistry registry;
  SyntheticContext context(1);
  double points = 0.0;
  for (const Schedule& sketch : context.sketches()) points += count_points(sketch.sampling_points());
  EXPECT_EQ(points, 28 * 28 * 4 + 7 * 3);
  const auto searcher = make_searcher(registry, "exhaustive");
  EXPECT_EQ(all_of(context, *searcher, 100).size(), 28U * 28 * 4 + 7 * 3);
  EXPECT_TRUE(context.round(*searcher, 100).empty());
}

TEST(Exhaustive, TheOrderDependsOnNeitherBatchNorSeed) {
  PluginRegistry registry;
  SyntheticContext one(1);
  SyntheticContext other(2);
  const auto a = all_of(one, *make_searcher(registry, "exhaustive"), 7);
  const auto b = all_of(other, *make_searcher(registry, "exhaustive"), 64);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i]->lowered_hash, b[i]->lowered_hash) << i;
}

TEST(Exhaustive, AnotherObjectGoesOnWhereTheHistoryEnds) {
  PluginRegistry registry;
  SyntheticContext context(1);
  const auto first = make_searcher(registry, "exhaustive");
  context.round(*first, 50);
  const auto second = make_searcher(registry, "exhaustive");
  second->observe(context, context.history().since(0));
  const auto a = first->propose(context, 20);
  const auto b = second->propose(context, 20);
  ASSERT_EQ(a.size(), 20U);
  ASSERT_EQ(b.size(), 20U);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->lowered_hash, b[i]->lowered_hash);
}

/// A tile of a tile of 64, and a category: 56 points.
std::vector<Schedule> nested_sketch(const Program& program) {
  std::vector<Schedule> sketches;
  Schedule nested(program, RandomStream(1));
  const std::vector<LoopRV> loops = nested.get_loops(nested.get_block("C"));
  const std::vector<IntRV> outer = nested.sample_perfect_tile(loops[0], 2, 64);
  const std::vector<LoopRV> parts = nested.split(loops[0], {outer[0], outer[1]});
  nested.sample_perfect_tile(parts[1], 2, 64);
  nested.sample_categorical({1, 2}, {0.5, 0.5});
  sketches.push_back(std::move(nested));
  return sketches;
}

TEST(Exhaustive, SeesDomainsThatDependOnDecisions) {
  PluginRegistry registry;
  SyntheticContext context(1, [](const Candidate&) { return std::optional(1.0); });
  context.set_sketches(nested_sketch(context.program()));
  const auto searcher = make_searcher(registry, "exhaustive");
  std::set<std::vector<Decision>> seen;
  for (const CandidatePtr& candidate : all_of(context, *searcher, 9)) seen.insert(decisions_of(*candidate));
  // For 64 = 2^6, an inner factor of 2^e splits in e + 1 ways: 1 + 2 + ... + 7, each with two categories.
  EXPECT_EQ(seen.size(), 56U);
}

TEST(Exhaustive, MakesFewCandidatesForNothingWhereDomainsChange) {
  PluginRegistry registry;
  SyntheticContext context(1, [](const Candidate&) { return std::optional(1.0); });
  context.set_sketches(nested_sketch(context.program()));
  const auto searcher = make_searcher(registry, "exhaustive");
  EXPECT_EQ(all_of(context, *searcher, 64).size(), 56U);
  // Besides the points: seven drafts that showed new domains, and those made before it was known that domains
  // depend on the first decision.
  EXPECT_LE(context.drafts(), 56U + 7 + 64);
}

}  // namespace
}  // namespace tunesmith::test
