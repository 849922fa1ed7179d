// Instructions in an option's text: the table as C calls it, and the wrapper over it. Runs in one process
// with the kernel, of which only the options are included.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/stable/module.h>
#include <tunesmith/stable/trace.h>

#include "api/host.h"
#include "unit/api/test_schedule.h"

namespace {

using namespace tunesmith;
using tunesmith_test::OptionText;

constexpr const char* kPrologue = "block = get_block(\"C\")\n";
constexpr const char* kTile =
    "# tile\ni, j, k = get_loops(block)\nouter, inner = split(i, [None, 4])\nreorder([outer, k, inner])\n"
    "annotate(k, \"hint\", 7)\n";

class StableTrace : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(detail::start(&api::k_host), nullptr); }

  /// The message about an option's text; "" if there is none.
  static std::string refusal(const std::string& text, std::string_view prologue = kPrologue) {
    const OptionText option(text);
    try {
      const Trace trace(Options(option.get()), "trace", prologue);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(StableTrace, IsExecutedWithTheSchedulesVariables) {
  const OptionText option(kTile);
  const Trace trace(Options(option.get()), "trace", kPrologue);
  ASSERT_EQ(trace.size(), 5U);
  EXPECT_EQ(trace[0].name(), "get_block");
  EXPECT_EQ(trace[0].offset(), 0U);
  EXPECT_EQ(trace[1].results(), 3U);
  EXPECT_EQ(trace[1].offset(), std::string_view(kTile).find("i, j, k"));
  EXPECT_EQ(trace[4].text(1), "hint");
  EXPECT_EQ(trace[4].text(0), std::nullopt);
  EXPECT_EQ(trace[4].text(9), std::nullopt);
  EXPECT_FALSE(trace[2].decided());

  Schedule schedule(tunesmith_test::make_gmm_schedule());
  schedule.get_output_blocks();  // so that both numbers differ
  std::vector<TraceVar> variables{schedule.get_block("C")};
  for (size_t i = 1; i < trace.size(); ++i) {
    const std::vector<TraceVar> made = trace[i].execute(schedule, variables);
    EXPECT_EQ(made.size(), trace[i].results());
    variables.insert(variables.end(), made.begin(), made.end());
  }
  const std::vector<LoopFacts> loops = schedule.loops_of(schedule.get_block("C"));
  ASSERT_EQ(loops.size(), 4U);
  EXPECT_EQ(loops[0].extent, 4);
  EXPECT_EQ(loops[1].extent, 8);
  EXPECT_EQ(loops[3].extent, 4);
  EXPECT_TRUE(schedule.has_annotation(loops[1].id, "hint"));
  EXPECT_FALSE(schedule.has_annotation(loops[0].id, "hint"));
}

TEST_F(StableTrace, HasNoInstructionsWhereNobodyReadOne) {
  const Trace none;
  EXPECT_TRUE(none.empty());
}

TEST_F(StableTrace, SaysWhichDecisionsAreWritten) {
  const OptionText option(
      "i, j, k = get_loops(block)\na, b = sample_perfect_tile(i, n=2, max_innermost=16) @ [4, 4]\n");
  const Trace trace(Options(option.get()), "trace", kPrologue);
  EXPECT_FALSE(trace[1].decided());
  EXPECT_TRUE(trace[2].decided());
}

// The option's text begins in line 9, column 13 of my.yaml.
TEST_F(StableTrace, MistakesAreReportedWhereTheyStandInTheFile) {
  const std::string whose = ": option 'trace' of module 'test': ";
  EXPECT_EQ(refusal(kTile), "");
  EXPECT_TRUE(refusal("reoder(block)").starts_with("my.yaml:9:13" + whose + "unknown instruction"));
  EXPECT_NE(refusal("reoder(block)").find("did you mean 'reorder'"), std::string::npos);
  EXPECT_TRUE(refusal("# first\nparallel(blok)\n").starts_with("my.yaml:10:22" + whose));
  // A line with the version stays first; the prologue follows it.
  EXPECT_TRUE(refusal("# tunesmith trace 99\n").starts_with("my.yaml:9:"));
  EXPECT_EQ(refusal("# tunesmith trace 2\ni, j, k = get_loops(block)\n"), "");
  EXPECT_TRUE(refusal("# tunesmith trace 2\nparallel(blok)\n").starts_with("my.yaml:10:22" + whose));
  // The prologue has two lines, and none.
  EXPECT_TRUE(refusal("parallel(x)", "b = get_block(\"C\")\n# more\n").starts_with("my.yaml:9:22" + whose));
  EXPECT_TRUE(refusal("parallel(x)", "").starts_with("my.yaml:9:22" + whose));
}

TEST_F(StableTrace, AMistakeInThePrologueIsTheAuthors) {
  const OptionText option("parallel(x)");
  EXPECT_THROW(Trace(Options(option.get()), "trace", "x = no_such(\"C\")\n"), ScheduleMisuse);
  const OptionText versioned("# tunesmith trace 2\nparallel(x)");
  EXPECT_THROW(Trace(Options(versioned.get()), "trace", "x = no_such(\"C\")\n"), ScheduleMisuse);
}

TEST_F(StableTrace, AnOptionIsRefusedAtACharacterOfItsText) {
  const OptionText option("# first\nsecond\n");
  try {
    Options(option.get()).fail("trace", 10, "not this");
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "my.yaml:10:15: option 'trace' of module 'test': not this");
  }
  EXPECT_THROW(Options(option.get()).fail("other", 0, "not this"), ScheduleMisuse);
}

}  // namespace
