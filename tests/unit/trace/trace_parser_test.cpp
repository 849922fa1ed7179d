#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/trace/trace.h>

namespace tunesmith {
namespace {

std::string error_of(const std::string& text) {
  try {
    Trace::parse(text, "my.trace");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string again(const std::string& text) { return Trace::parse(text).str(); }

constexpr const char* kHead = "# tunesmith trace 2\n";

TEST(TraceParser, EveryFormOfArgument) {
  const std::string text = std::string(kHead) +
                           "b0 = get_block(\"C\")\n"
                           "l1, l2 = get_loops(b0)\n"
                           "v3, v4 = sample_perfect_tile(l2, n=2, max_innermost=64) @ [8, 4]\n"
                           "l5, l6 = split(l2, [None, v4])\n"
                           "v7 = sample_categorical([0, -16], [0.5, 0.5]) @ 1\n"
                           "annotate(root, \"a \\\"b\\\\\\n\\t\\x01\", 2.0)\n"
                           "annotate(b0, \"k\", v7)\n"
                           "annotate(l1, \"k\", \"text\")\n"
                           "reorder([l6, l5])\n"
                           "get_output_blocks()\n";
  EXPECT_EQ(again(text), text);
  const Trace trace = Trace::parse(text);
  EXPECT_EQ(trace.size(), 10U);
  EXPECT_EQ(trace[2].decision, (Decision{8, 4}));
  EXPECT_EQ(trace[4].decision, Decision{1});
  EXPECT_EQ(std::get<std::string>(trace[5].args[1]), "a \"b\\\n\t\x01");
  EXPECT_EQ(std::get<double>(trace[5].args[2]), 2.0);
  EXPECT_EQ(Trace::parse(trace.str()), trace);
  EXPECT_EQ(Trace::parse(trace.str()).hash(), trace.hash());
}

TEST(TraceParser, FreedomOfWriting) {
  const std::string canonical = std::string(kHead) +
                                "b0 = get_block(\"C\")\n"
                                "l1, l2 = get_loops(b0)\n"
                                "v3, v4 = sample_perfect_tile(l2, n=2, max_innermost=64)\n";
  EXPECT_EQ(again("\n# a comment\r\n  update=get_block( name = \"C\" )  # tail\n"
                  "outer , inner = get_loops(update)\n\n"
                  "x, y = sample_perfect_tile(\n  inner,\n  2, # factors\n  max_innermost=64)"),
            canonical);
  EXPECT_EQ(again("# tunesmith trace 2\r\n"), kHead);
  EXPECT_EQ(again(""), kHead);
  EXPECT_EQ(again("v = sample_categorical([1, 2], [1, 0])\n"),
            std::string(kHead) + "v0 = sample_categorical([1, 2], [1.0, 0.0])\n");
  EXPECT_EQ(again("v = sample_categorical([1, 2], [1, 0]) @ [1]\n"),
            std::string(kHead) + "v0 = sample_categorical([1, 2], [1.0, 0.0]) @ 1\n");
}

TEST(TraceParser, Versions) {
  EXPECT_EQ(error_of("# tunesmith trace 3\n"),
            "my.trace:1:19: the trace has version 3, this program reads up to 2; use the release of "
            "Tunesmith that wrote it, or a newer one");
  EXPECT_EQ(error_of("# tunesmith trace 0\n"), "my.trace:1:19: unknown version 0");
  EXPECT_EQ(error_of("# tunesmith trace x\n"),
            "my.trace:1:19: expected the version of the text form, found 'x'");
}

TEST(TraceParser, TextsOfVersionOneAreReadAsTheyAre) {
  EXPECT_EQ(again("# tunesmith trace 1\nb = get_block(\"C\")\n"),
            std::string(kHead) + "b0 = get_block(\"C\")\n");
}

// It counted the buffers that a block reads; only the program shows whether these are its accesses.
TEST(TraceParser, AReadOfVersionOneStaysOne) {
  const std::string text = "# tunesmith trace 1\nb0 = get_block(\"C\")\nb1 = cache_read(b0, 1, \"local\")\n";
  EXPECT_EQ(again(text), text);
  EXPECT_EQ(Trace::parse(text).with_open_decisions().str(), text);
}

TEST(TraceParser, TheMarkerStandsOnce) {
  EXPECT_EQ(again("enter_finishing()\n"), std::string(kHead) + "enter_finishing()\n");
  EXPECT_EQ(error_of("enter_finishing()\nenter_finishing()\n"),
            "my.trace:2:1: 'enter_finishing' occurs twice");
}

TEST(TraceParser, UnknownNames) {
  EXPECT_EQ(error_of("b0 = get_blok(\"C\")\n"),
            "my.trace:1:6: unknown instruction 'get_blok'; did you mean 'get_block'?");
  EXPECT_EQ(error_of("b0 = get_block(nam=\"C\")\n"),
            "my.trace:1:16: get_block has no parameter 'nam'; did you mean 'name'?");
  EXPECT_EQ(error_of("block = get_block(\"C\")\nl = get_loops(blok)\n"),
            "my.trace:2:15: 'blok' is not defined; did you mean 'block'?");
  EXPECT_EQ(error_of("l = get_loops(b)\n"), "my.trace:1:15: 'b' is not defined");
}

TEST(TraceParser, ArityAndTypes) {
  const std::string block = "b = get_block(\"C\")\nl, m = get_loops(b)\n";
  EXPECT_EQ(error_of(block + "b = get_block(\"D\")\n"), "my.trace:3:1: 'b' is already defined in line 1");
  EXPECT_EQ(error_of(block + "root = get_block(\"D\")\n"), "my.trace:3:1: 'root' cannot be a variable");
  EXPECT_EQ(error_of(block + "x, y = get_block(\"D\")\n"), "my.trace:3:1: get_block has one result, not 2");
  EXPECT_EQ(error_of(block + "x = parallel(l)\n"), "my.trace:3:1: parallel has no result");
  EXPECT_EQ(error_of(block + "parallel(b)\n"), "my.trace:3:10: 'loop' of parallel must be a loop");
  EXPECT_EQ(error_of(block + "parallel()\n"), "my.trace:3:9: parallel needs 'loop', a loop");
  EXPECT_EQ(error_of(block + "parallel(l, m)\n"), "my.trace:3:13: parallel takes 1 argument");
  EXPECT_EQ(error_of(block + "parallel(l, loop=m)\n"), "my.trace:3:13: 'loop' is given twice");
  EXPECT_EQ(error_of(block + "split(loop=l, [2])\n"),
            "my.trace:3:15: a positional argument follows a named one; give its name, too");
  EXPECT_EQ(error_of(block + "x, y = split(l, [2, \"3\"])\n"),
            "my.trace:3:17: 'factors' of split must be a list of integers or None");
  EXPECT_EQ(error_of(block + "parallel(l) @ 3\n"),
            "my.trace:3:13: parallel has no decision; only sampling instructions have '@'");
}

TEST(TraceParser, BrokenText) {
  EXPECT_EQ(error_of("b0 = get_block(\"C\n"),
            "my.trace:1:16: the string is not closed; end it with '\"' on the same line");
  EXPECT_EQ(error_of("b0 = get_block(\"C\\q\")\n"),
            R"(my.trace:1:18: unknown escape in a string; known: \" \\ \n \t \xNN)");
  EXPECT_EQ(error_of("b0 = get_block(\"\\x1\")\n"), "my.trace:1:17: \\x needs two hexadecimal digits");
  EXPECT_EQ(error_of("b0 = get_block(\"C\") get\n"),
            "my.trace:1:21: expected the end of the line; expected one instruction on a line");
  EXPECT_EQ(error_of("b0, b1\n"),
            "my.trace:1:7: expected '=' after the variables, found the end of the line");
  EXPECT_EQ(error_of("b0 = get_block\n"),
            "my.trace:1:15: expected '(' after 'get_block', found the end of the line");
  EXPECT_EQ(error_of("b0 = get_block(\"C\""),
            "my.trace:1:19: expected ')' at the end of the arguments, found the end of the text");
  EXPECT_EQ(error_of("annotate(root, \"k\", 99999999999999999999)\n"),
            "my.trace:1:21: 99999999999999999999 does not fit 64 bits");
  EXPECT_EQ(error_of("annotate(root, \"k\", 1e999)\n"),
            "my.trace:1:21: '1e999' is not a representable number");
  EXPECT_EQ(error_of("annotate(root, \"k\", 12ab)\n"), "my.trace:1:21: '12ab' is not an integer");
  EXPECT_EQ(error_of("annotate(root, \"k\", [[[[[[[[[[1]]]]]]]]]])\n"),
            "my.trace:1:29: lists are nested too deeply");
  EXPECT_EQ(error_of("\x01\n"), "my.trace:1:1: expected an instruction or a variable, found the byte 0x01");
  EXPECT_EQ(error_of("v = sample_categorical([1], [1]) @ x\n"),
            "my.trace:1:36: expected a decision: an integer or a list of integers, found 'x'");
}

TEST(TraceParser, NumbersReadBackExactly) {
  for (const char* number : {"0.1", "-0.0", "1e+300", "5e-324", "123456789.123", "-9223372036854775808"}) {
    const std::string text = std::string(kHead) + "annotate(root, \"k\", " + number + ")\n";
    EXPECT_EQ(again(text), text);
  }
}

TEST(TraceParser, TextsAndListsHaveALimit) {
  std::string list = "[1";
  for (int i = 1; i < 1025; ++i) list += ", 1";
  EXPECT_EQ(error_of("b0 = get_block(\"C\")\nl1 = get_loops(b0)\nsplit(l1, " + list + "])\n"),
            "my.trace:3:11: a list of more than 1024 items");
  EXPECT_EQ(error_of("v = sample_categorical([1, 2], [1, 0]) @ " + list + "]\n"),
            "my.trace:1:43: a list of more than 1024 items");
  EXPECT_EQ(error_of(std::string(size_t{1} << 20, '\n') + "x"),
            "my.trace:1:1: a trace larger than 1048576 bytes");
}

}  // namespace
}  // namespace tunesmith
