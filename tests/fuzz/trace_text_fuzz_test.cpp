// Damaged traces: the reader answers with a trace that prints and reads back, or with a UserError, never
// otherwise.
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/trace/trace.h>

#include "damage.h"

namespace tunesmith::fuzz {
namespace {

constexpr const char* kTraces[] = {
    "# tunesmith trace 1\n"
    "b0 = get_block(\"C \\\"x\\\" \\x01\")\n"
    "l1, l2, l3 = get_loops(b0)\n"
    "v4, v5 = sample_perfect_tile(l2, n=2, max_innermost=64) @ [8, 4]\n"
    "l6, l7 = split(l2, [None, v5])\n"
    "v8 = sample_categorical([0, -16], [0.5, 5e-1]) @ 1\n"
    "annotate(root, \"key\", v8)\n"
    "annotate(l1, \"k\", 2.5)\n"
    "reorder([l7, l6])\n",
    "b = get_block(name=\"C\")  # comment\n"
    "x = cache_read(b, read_index=0,\n  scope=\"local\")\n"
    "l = sample_compute_location(x) @ -1\n"
    "compute_at(x, l)\n",
};

constexpr std::string_view kTracePieces[] = {
    "[",  "]",  "(",  ")",    ",",    "=",    "@",
    "\"", "\\", "\n", "#",    "-",    "9",    ".",
    "e",  "v4", "b0", "None", "root", "\xff", std::string_view("\0", 1)};

TEST(TraceTextFuzz, DamagedTextsAreReadOrRefused) {
  RandomStream random(77);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 40000; ++i) {
    const std::string text = damage(kTraces[random.below(std::size(kTraces))], kTracePieces, random);
    try {
      const Trace trace = Trace::parse(text);
      ++read;
      ASSERT_EQ(Trace::parse(trace.str()), trace) << text;
      ASSERT_EQ(Trace::parse(trace.str()).str(), trace.str()) << text;
      ASSERT_LE(trace.simplified().size(), trace.size());
      ASSERT_EQ(diff(trace, trace).find("\n-"), std::string::npos);
    } catch (const UserError& error) {
      ++refused;
      ASSERT_GT(error.location().line, 0) << error.what();
      ASSERT_GT(error.location().column, 0) << error.what();
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace tunesmith::fuzz
