// Candidates as lines: they read back what was written; other, damaged and too large lines are refused.
#include "tunesmith/records/recorded_candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

RecordedCandidate example() {
  return {{0x1234, "twice:n=8", "name: twice\n"},
          "llvm 19 generator=g lowering=l with=vnni:0f3c",
          4,
          "",
          "# tunesmith trace 2\nenter_finishing()\n",
          2,
          0xabcd};
}

auto refused(const std::string& line, const std::string& why) {
  return testing::Truly([line, why](int) {
    try {
      parse_candidate(line);
    } catch (const UserError& error) {
      return std::string(error.what()).find(why) != std::string::npos;
    }
    return false;
  });
}

TEST(RecordedCandidate, WhatIsWrittenIsRead) {
  const std::string line = line_of(example());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(parse_candidate(line), example());
  RecordedCandidate without = example();
  without.threads = 0;
  EXPECT_EQ(parse_candidate(line_of(without)), without);
}

TEST(RecordedCandidate, OtherLinesAndDamagedOnesAreRefused) {
  const std::string line = line_of(example());
  std::string damaged = line;
  damaged[damaged.find("twice")] = 'T';
  EXPECT_THAT(0, refused(damaged, "damaged: the checksum does not fit"));
  EXPECT_THAT(0, refused(line.substr(0, line.size() / 2), "damaged: it is no JSON object"));
  EXPECT_THAT(0, refused(line_text("workload", R"({"hash":"0000000000000000"})"),
                         "expected a candidate, found a workload"));
  std::string newer = line;
  newer.replace(newer.rfind("\"version\":") + 10, 1, "99");
  EXPECT_THAT(0, refused(newer, "written by a newer Tunesmith (version 99"));
}

TEST(RecordedCandidate, LimitsHold) {
  RecordedCandidate large = example();
  large.trace = std::string((size_t{1} << 20) + 1, '#');
  EXPECT_THAT(0, refused(line_of(large), "its field 'trace' has 1048577 bytes, and may have 1048576"));
  large = example();
  large.workload.definition = std::string((size_t{1} << 20) + 1, '#');
  EXPECT_THAT(0, refused(line_of(large), "its field 'workload.definition' has 1048577 bytes"));
  large = example();
  large.workload.text = std::string((size_t{64} << 10) + 1, '#');
  EXPECT_THAT(0, refused(line_of(large), "its field 'workload.text' has 65537 bytes"));
  large = example();
  large.target = std::string((size_t{64} << 10) + 1, 't');
  EXPECT_THAT(0, refused(line_of(large), "its field 'target' has 65537 bytes"));
  large = example();
  large.threads = 65537;
  EXPECT_THAT(0, refused(line_of(large), "its field 'threads' is 65537, and must be from 1 to 65536"));
  EXPECT_THAT(0, refused(std::string((size_t{4} << 20) + 1, ' '), "larger than 4194304 bytes"));
}

TEST(ParseLine, RefusesWhatNoStoreTakes) {
  EXPECT_THAT([] { parse_line(line_of(example())); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr(
                  "a candidate, which is not a measurement; run it with `tunesmith measure`")));
}

TEST(ParseLine, RefusesADeepNestInAnyKindOfLine) {
  const std::string nest = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_THAT([&] { parse_line(R"({"version": 5, "checksum": "", "record": )" + nest + "}"); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("nested more than 16 deep")));
}

TEST(RecordedCandidate, WithHashesOfSourcesIsReadWithVersions) {
  RecordedCandidate old = example();
  old.target = "cuda arch=sm_80 generator=f804afff01eb1534,nvrtc-13.0 lowering=3c00fae1729327e0 with=none";
  EXPECT_EQ(parse_candidate(line_of(old)).target,
            "cuda arch=sm_80 generator=1,nvrtc-13.0 lowering=1 with=none");
  old.target = "acme generator=f804afff01eb15345 lowering=0 with=none";
  EXPECT_EQ(parse_candidate(line_of(old)), old);
}

}  // namespace
}  // namespace tunesmith
