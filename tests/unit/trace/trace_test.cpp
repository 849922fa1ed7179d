#include <gtest/gtest.h>

#include <tunesmith/trace/trace.h>

namespace tunesmith {
namespace {

constexpr const char* kText =
    "# tunesmith trace 2\n"
    "b0 = get_block(\"C\")\n"
    "b1 = get_block(\"D\")\n"
    "l2, l3 = get_loops(b0)\n"
    "v4, v5 = sample_perfect_tile(l2, n=2, max_innermost=8) @ [4, 2]\n"
    "v6 = sample_categorical([1, 2], [0.5, 0.5]) @ 0\n"
    "l7, l8 = split(l2, [v4, v5])\n"
    "parallel(l7)\n";

TEST(Trace, DecisionsCanBeReplaced) {
  const Trace trace = Trace::parse(kText);
  EXPECT_EQ(trace.sampling(), (std::vector<size_t>{3, 4}));
  const Trace other = trace.with_decision(3, {2, 4});
  EXPECT_EQ(other[3].decision, (Decision{2, 4}));
  EXPECT_EQ(trace[3].decision, (Decision{4, 2}));
  EXPECT_NE(other, trace);
  EXPECT_NE(other.hash(), trace.hash());
  EXPECT_EQ(other.with_decision(3, {4, 2}), trace);
  const Trace open = trace.with_open_decisions();
  EXPECT_FALSE(open[3].decision.has_value());
  EXPECT_FALSE(open[4].decision.has_value());
  EXPECT_EQ(other.with_open_decisions(), open);
  EXPECT_EQ(Trace::parse(open.str()), open);
}

TEST(Trace, WhatIsFinishedIsNeitherMutatedNorKeptForOtherDecisions) {
  const Trace searched = Trace::parse(kText);
  EXPECT_FALSE(searched.complete());
  EXPECT_EQ(searched.finishing(), searched.size());
  EXPECT_EQ(searched.searchable(), searched);
  const Trace whole = Trace::parse(std::string(kText) +
                                   "enter_finishing()\n"
                                   "v = sample_categorical([1, 2], [0.5, 0.5]) @ 1\n"
                                   "unroll(l8)\n");
  EXPECT_TRUE(whole.complete());
  EXPECT_EQ(whole.finishing(), 7U);
  EXPECT_EQ(whole.searchable(), searched);
  EXPECT_EQ(whole.sampling(), searched.sampling());
  EXPECT_EQ(whole.with_decision(3, {2, 4}), searched.with_decision(3, {2, 4}));
  EXPECT_EQ(whole.with_open_decisions(), searched.with_open_decisions());
  EXPECT_EQ(Trace::parse(whole.str()), whole);
}

TEST(Trace, SimplifiedDropsWhatNothingUses) {
  EXPECT_EQ(Trace::parse(kText).simplified().str(),
            "# tunesmith trace 2\n"
            "b0 = get_block(\"C\")\n"
            "l1, l2 = get_loops(b0)\n"
            "v3, v4 = sample_perfect_tile(l1, n=2, max_innermost=8) @ [4, 2]\n"
            "l5, l6 = split(l1, [v3, v4])\n"
            "parallel(l5)\n");
}

TEST(Trace, DiffKnowsVariablesByTheirOrigin) {
  const Trace a = Trace::parse(kText);
  EXPECT_EQ(diff(a, a).find_first_of("+-"), diff(a, a).find("-1")) << "equal traces have no marks";
  const Trace b = a.simplified().with_decision(2, {2, 4});
  EXPECT_EQ(diff(a, b),
            "  b0 = get_block(\"C\")\n"
            "- b1 = get_block(\"D\")\n"
            "  l2, l3 = get_loops(b0)\n"
            "- v4, v5 = sample_perfect_tile(l2, n=2, max_innermost=8) @ [4, 2]\n"
            "- v6 = sample_categorical([1, 2], [0.5, 0.5]) @ 0\n"
            "+ v4, v5 = sample_perfect_tile(l2, n=2, max_innermost=8) @ [2, 4]\n"
            "  l7, l8 = split(l2, [v4, v5])\n"
            "  parallel(l7)\n");
  EXPECT_EQ(diff(Trace(), Trace()), "");
}

TEST(Trace, DiffMarksNoLineThatReadsAlikeOnBothSides) {
  const auto trace = [](const std::string& factor, const std::string& before) {
    return Trace::parse("# tunesmith trace 2\nb0 = get_block(\"C\")\nl1, l2 = get_loops(b0)\n" + before +
                        "l5, l6 = split(l1, [None, " + factor + "])\nunroll(l6)\n");
  };
  EXPECT_EQ(
      diff(trace("4", "l3, l4 = split(l2, [None, 2])\n"), trace("2", "l3, l4 = split(l2, [None, 2])\n")),
      "  b0 = get_block(\"C\")\n"
      "  l1, l2 = get_loops(b0)\n"
      "  l3, l4 = split(l2, [None, 2])\n"
      "- l5, l6 = split(l1, [None, 4])\n"
      "+ l5, l6 = split(l1, [None, 2])\n"
      "  unroll(l6)\n")
      << "the factor differs, and not what is made of the loop";
  // Another loop with the same number.
  const Trace one = Trace::parse("# tunesmith trace 2\nb0 = get_block(\"C\")\ncompute_inline(b0)\n");
  const Trace other = Trace::parse("# tunesmith trace 2\nb0 = get_block(\"D\")\ncompute_inline(b0)\n");
  EXPECT_EQ(diff(one, other),
            "- b0 = get_block(\"C\")\n- compute_inline(b0)\n"
            "+ b0' = get_block(\"D\")\n+ compute_inline(b0')\n");
}

}  // namespace
}  // namespace tunesmith
