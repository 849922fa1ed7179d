// Lines have one form and one version, and limits that are checked before anything is allocated.
#include "tunesmith/schema/line.h"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/version.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

std::string why_refused(const std::string& text) {
  try {
    parse_line_text(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// A line with this content, which may be invalid.
std::string line_with(const std::string& kind, const std::string& content, int version = 5) {
  return fmt::format(R"({{"checksum":"{}","{}":{},"version":{}}})", json_checksum(content), kind, content,
                     version);
}

TEST(Line, WhatIsWrittenIsRead) {
  const Line line = parse_line_text(line_text("job", R"({"a":[1,"x"]})"));
  EXPECT_EQ(line.kind, "job");
  EXPECT_EQ(line.content.dump(), R"({"a":[1,"x"]})");
  EXPECT_THROW(line_text("no_such_kind", "{}"), InternalError);
}

TEST(Line, SaysTheVersionInWhichItsKindLastChanged) {
  for (const char* kind : {"environment", "workload", "space", "run", "record", "candidate"})
    EXPECT_EQ(parse_line_text(line_text(kind, "{}")).version, 5) << kind;
  EXPECT_EQ(parse_line_text(line_text("job", "{}")).version, 6);
  EXPECT_EQ(parse_line_text(line_text("roof", "{}")).version, 8);
}

TEST(Line, IsRefusedWithAReason) {
  EXPECT_THAT(why_refused(""), HasSubstr("damaged: it is no JSON object"));
  EXPECT_THAT(why_refused("[]"), HasSubstr("damaged: it is no JSON object"));
  EXPECT_THAT(why_refused("{} {}"), HasSubstr("damaged: it is no JSON object"));
  EXPECT_THAT(why_refused("{}"), HasSubstr("its field 'version' is missing"));
  EXPECT_THAT(why_refused(R"({"version":0})"), HasSubstr("'version' is 0, and must be from 1"));
  EXPECT_THAT(why_refused(R"({"version":"5"})"), HasSubstr("'version' is of the type string"));
  EXPECT_THAT(why_refused(R"({"version":5})"), HasSubstr("it has none of the keys environment, workload"));
  EXPECT_THAT(why_refused(R"({"version":5,"record":{}})"), HasSubstr("'checksum' is missing"));
  EXPECT_THAT(why_refused(R"({"version":5,"record":{},"checksum":"0"})"),
              HasSubstr("does not fit the content"));
  EXPECT_THAT(why_refused(line_with("record", "[1]")), HasSubstr("is no object"));
  EXPECT_THAT(why_refused(line_with("record", "{}", kSchemaVersion + 1)),
              HasSubstr("written by a newer Tunesmith"));
  EXPECT_EQ(why_refused(line_with("record", "{}", 1)), "");
}

TEST(Line, DamageAnywhereIsNoticed) {
  const std::string line = line_text("record", R"({"name":"twice"})");
  for (size_t at = 0; at < line.size(); ++at) {
    std::string damaged = line;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const std::string why = why_refused(damaged);
    // In another known version, an unchanged line means the same.
    const bool is_version = at + 2 == line.size();
    EXPECT_TRUE(is_version || !why.empty()) << damaged;
  }
}

TEST(Line, LimitsHold) {
  EXPECT_THAT(why_refused(std::string(kMaxLineBytes + 1, ' ')), HasSubstr("larger than 4194304 bytes"));
  const auto nest = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  // The line and its content are two levels.
  EXPECT_EQ(why_refused(line_with("record", R"({"a":)" + nest(kMaxNesting - 2) + "}")), "");
  EXPECT_THAT(why_refused(line_with("record", R"({"a":)" + nest(kMaxNesting - 1) + "}")),
              HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(why_refused(std::string(1000000, '[')), HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(why_refused(R"({"a":")" + std::string(100, '[') + R"("})"), HasSubstr("'version' is missing"))
      << "brackets in a text nest nothing";
}

TEST(ReadLine, TakesLinesAndNoMoreThanALineMayHave) {
  std::istringstream in("one\n\n" + std::string(3 * kMaxLineBytes, 'x') + "\nlast");
  std::string line;
  ASSERT_TRUE(read_line(in, line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(read_line(in, line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(read_line(in, line));
  EXPECT_EQ(line.size(), kMaxLineBytes + 1);
  EXPECT_THAT(why_refused(line), HasSubstr("larger than"));
  ASSERT_TRUE(read_line(in, line));
  EXPECT_EQ(line, "last");
  EXPECT_FALSE(read_line(in, line));
}

}  // namespace
}  // namespace tunesmith
