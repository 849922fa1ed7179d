#include "report/importance.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/random.h>

#include "report/decision_names.h"

namespace tunesmith::report {
namespace {
using testing::ElementsAre;

TEST(ExplainedVariance, IsAllWhereGroupsDecideAndNothingWhereTheyDoNot) {
  const std::vector<size_t> groups{0, 0, 0, 1, 1, 1};
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{1.0, 1.0, 1.0, 2.0, 2.0, 2.0}, groups, 2), 1.0);
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{1.0, 2.0, 3.0, 1.0, 2.0, 3.0}, groups, 2), 0.0);
  EXPECT_DOUBLE_EQ(explained_variance(std::vector{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, groups, 2), 0.0)
      << "nothing varies";
}

// Within the groups 4 * 0.25, of 6 degrees of freedom - 2 groups; in all 4 * 0.25 + 6 * 0.25, of 5.
TEST(ExplainedVariance, TakesOffWhatSoManyGroupsExplainByChance) {
  const std::vector<double> values{0.0, 1.0, 0.5, 1.0, 2.0, 1.5};
  const std::vector<size_t> groups{0, 0, 0, 1, 1, 1};
  EXPECT_NEAR(explained_variance(values, groups, 2), 1.0 - (1.0 / 4) / (2.5 / 5), 1e-12);
  const std::vector<size_t> alone{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(explained_variance(values, alone, 6), 0.0) << "a group for each value explains anything";
}

Trace trace_with(int64_t factor, int64_t category, int64_t place) {
  return Trace::parse(
      fmt::format("b0 = get_block(\"C\")\n"
                  "l1, l2 = get_loops(b0)\n"
                  "v3 = sample_categorical([4, 6, 7], [0.3, 0.3, 0.4]) @ {}\n"
                  "l4, l5 = split(l1, [None, v3])\n"
                  "v6, v7 = sample_perfect_tile(l5, n=2, max_innermost=64) @ [{}, {}]\n"
                  "l8, l9 = split(l5, [v6, v7])\n"
                  "l10 = sample_compute_location(b0) @ {}\n"
                  "compute_at(b0, l10)\n"
                  "v11 = sample_categorical([0, 16], [0.5, 0.5]) @ 1\n"
                  "annotate(root, \"unroll_steps\", v11)\n"
                  "enter_finishing()\n"
                  "parallel(l8)\n",
                  category, factor, 64 / factor, place));
}

TEST(DecidedNumbers, AreNamedByWhatTheyAreAbout) {
  const Trace trace = trace_with(8, 2, -1);
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const DecidedNumber& number : decided_numbers(trace)) {
    names.push_back(number.name);
    values.push_back(value_text(trace, number));
  }
  EXPECT_THAT(
      names, ElementsAre("split of loop 1 of C", "loop 1 of C, piece 2: factor 1 of 2",
                         "loop 1 of C, piece 2: factor 2 of 2", "place of C", "unroll_steps of the program"));
  EXPECT_THAT(values, ElementsAre("7", "8", "8", "at the root", "16"));
}

TEST(Importance, FindsTheDecisionThatMadeTheDifference) {
  std::vector<TimedTrace> programs;
  RandomStream random(5);
  for (int i = 0; i < 200; ++i) {
    const int64_t factor = int64_t{1} << random.below(6);
    const auto category = static_cast<int64_t>(random.below(3));
    const double seconds = 1e-3 * (category == 1 ? 1.0 : 4.0) * std::exp(0.1 * random.normal());
    programs.push_back({trace_with(factor, category, static_cast<int64_t>(random.below(2))), seconds});
  }
  const std::vector<SketchEffects> sketches = importance(programs);
  ASSERT_EQ(sketches.size(), 1u);
  EXPECT_EQ(sketches[0].programs, 200u);
  const std::vector<DecisionEffect>& effects = sketches[0].decisions;
  ASSERT_EQ(effects.size(), 4u) << "the unrolling was never decided otherwise";
  EXPECT_EQ(effects[0].decision, "split of loop 1 of C");
  EXPECT_GT(effects[0].explained, 0.95);
  EXPECT_LT(effects[0].chance, 0.05);
  EXPECT_EQ(effects[0].values.front().value, "6");
  EXPECT_NEAR(effects[0].values.front().seconds, 1e-3, 5e-5);
  for (size_t i = 1; i < effects.size(); ++i) EXPECT_LT(effects[i].explained, 0.1) << effects[i].decision;
}

TEST(Importance, FewProgramsSayNothing) {
  std::vector<TimedTrace> programs;
  for (size_t i = 0; i + 1 < kMinPrograms; ++i)
    programs.push_back({trace_with(2, static_cast<int64_t>(i % 3), -1), 1.0});
  EXPECT_TRUE(importance(programs).empty());
  programs.push_back({trace_with(4, 0, -1), 2.0});
  EXPECT_EQ(importance(programs).size(), 1u);
  programs.assign(20, {Trace::parse("enter_finishing()\n"), 1.0});
  EXPECT_TRUE(importance(programs).empty()) << "nothing was decided";
}

}  // namespace
}  // namespace tunesmith::report
