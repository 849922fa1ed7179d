#include "synthetic.h"

namespace tunesmith::test {
namespace {

std::shared_ptr<Searcher> make_portfolio(PluginRegistry& registry, const std::vector<std::string>& members) {
  RawOption list = option("members", members);
  list.shape = RawOption::Shape::List;
  return make_searcher(registry, "portfolio", {list, option("turn", {"16"})});
}

TEST(Portfolio, MembersTakeTurnsOfOneLength) {
  PluginRegistry registry;
  SyntheticContext context(7);
  const auto portfolio = make_portfolio(registry, {"random", "evolutionary"});
  EXPECT_EQ(context.round(*portfolio, 64).size(), 16U);
  EXPECT_EQ(context.round(*portfolio, 5).size(), 5U);
  EXPECT_EQ(context.round(*portfolio, 64).size(), 11U);
}

TEST(Portfolio, GivesTrialsToWhoImproves) {
  // Of a blind member and one that knows the optimum, the latter gets most turns, so that the optimum is
  // found nearly as soon as by it alone.
  PluginRegistry registry;
  const auto blind = [](const Candidate& c) { return std::optional(microseconds(c)); };
  SyntheticContext::Score knows = [](const Candidate& c) { return -microseconds(c); };
  double together = 0.0;
  double alone = 0.0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticContext one(seed, blind, knows);
    together += static_cast<double>(
        trials_to_optimum(one, *make_portfolio(registry, {"random", "droplet"}), 16, 2000));
    SyntheticContext other(seed, blind, knows);
    other.round(*make_searcher(registry, "random"), 16);
    alone += static_cast<double>(trials_to_optimum(other, *make_searcher(registry, "droplet"), 16, 2000));
  }
  EXPECT_LT(together, 2.0 * alone);
}

TEST(Portfolio, AnotherObjectThatIsToldTheHistoryProposesTheSame) {
  PluginRegistry registry;
  SyntheticContext context(7);
  const auto first = make_portfolio(registry, {"random", "evolutionary", "droplet"});
  for (int round = 0; round < 7; ++round) context.round(*first, 16);
  const auto second = make_portfolio(registry, {"random", "evolutionary", "droplet"});
  second->observe(context, context.history().since(0));
  context.begin_round();
  const auto a = first->propose(context, 16);
  context.begin_round();
  const auto b = second->propose(context, 16);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->lowered_hash, b[i]->lowered_hash);
}

TEST(Portfolio, SaysWhichMemberThereIsNot) {
  PluginRegistry registry;
  SyntheticContext context(7);
  try {
    context.round(*make_portfolio(registry, {"random", "droplets"}), 16);
    FAIL() << "no such searcher";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("members"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("droplet"), std::string::npos) << error.what();
  }
  EXPECT_THROW(make_portfolio(registry, {}), UserError);
  EXPECT_THROW(make_portfolio(registry, {"portfolio"}), UserError);
}

}  // namespace
}  // namespace tunesmith::test
