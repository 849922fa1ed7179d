#include "synthetic.h"

namespace tunesmith::test {
namespace {

TEST(Droplet, DescendsToAProgramThatNoNeighbourBeats) {
  PluginRegistry registry;
  SyntheticContext context(3);
  context.round(*make_searcher(registry, "random"), 16);
  const auto droplet = make_searcher(registry, "droplet", {option("starts", {"1"})});
  while (!context.round(*droplet, 64).empty()) {
  }
  const CandidatePtr best = context.history().fastest(1).front();
  for (const Trace& trace : context.neighbours(*best)) {
    const SearchContext::Draft draft{trace, RandomStream(0)};
    EXPECT_TRUE(context.is_measured(context.materialise({&draft, 1}).front()->lowered_hash));
  }
  EXPECT_LE(context.best(), 1.3) << "the landscape falls towards its lowest point nearly everywhere";
  EXPECT_LT(context.history().size(), 300U);
}

TEST(Droplet, MeasuresTheMostPromisingNeighboursFirst) {
  PluginRegistry registry;
  SyntheticContext context(
      3, [](const Candidate& c) { return std::optional(microseconds(c)); },
      [](const Candidate& c) { return -microseconds(c); });
  context.round(*make_searcher(registry, "random"), 16);
  const double before = context.best();
  context.round(*make_searcher(registry, "droplet", {option("step", {"1"})}), 64);
  EXPECT_EQ(context.history().size(), 17U);
  EXPECT_LT(context.best(), before) << "the score knows the fastest neighbour";
}

TEST(Droplet, DrawsAsLongAsNothingWorks) {
  PluginRegistry registry;
  SyntheticContext context(3, [](const Candidate&) { return std::optional<double>(); });
  const auto droplet = make_searcher(registry, "droplet");
  EXPECT_EQ(context.round(*droplet, 16).size(), 16U);
  EXPECT_EQ(context.round(*droplet, 16).size(), 16U);
}

}  // namespace
}  // namespace tunesmith::test
