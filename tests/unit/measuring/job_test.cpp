// Jobs as lines: they read back what was written, and every field is needed.
#include "tunesmith/measuring/job.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "example_job.h"
#include "tunesmith/measuring/job_reader.h"
#include "tunesmith/measuring/turns.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string why_no_job(const std::string& line) {
  try {
    parse_job(line);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// The content of the example with `value` at `pointer`.
std::string changed_job(const char* pointer, const json& value) {
  json content = parse_line_text(line_of(test::example_job())).content;
  content[json::json_pointer(pointer)] = value;
  return line_text("job", canonical_text(content));
}

TEST(Job, WhatIsWrittenIsRead) {
  const Job job = test::example_job();
  EXPECT_EQ(line_of(job).find('\n'), std::string::npos);
  EXPECT_EQ(parse_job(line_of(job)), job);
}

TEST(Job, ACandidateIsOneThatIsMeasuredAsUsual) {
  const Job job = parse_job(line_of(test::example_candidate()));
  EXPECT_EQ(job.candidate, test::example_candidate());
  EXPECT_EQ(job.options, JobOptions());
  EXPECT_EQ(job.options.time_out_seconds, MeasureOptions().time_out_seconds);
}

TEST(Job, EachFieldIsNeeded) {
  const json content = parse_line_text(line_of(test::example_job())).content;
  const json flat = content.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    json lacking = content;
    const json::json_pointer place(pointer);
    lacking[place.parent_pointer()].erase(place.back());
    EXPECT_THAT(why_no_job(line_text("job", canonical_text(lacking))),
                HasSubstr(fmt::format("{}' is missing", place.back())));
    EXPECT_THAT(why_no_job(changed_job(pointer.c_str(), json::array())), HasSubstr("is of the type array"));
  }
}

TEST(Job, LimitsHold) {
  const auto refused = [](const char* field, const json& value) {
    return why_no_job(changed_job(fmt::format("/measure/{}", field).c_str(), value));
  };
  EXPECT_THAT(refused("time_out_seconds", 0.0),
              HasSubstr("'measure.time_out_seconds' is 0, and must be from"));
  EXPECT_THAT(refused("time_out_seconds", 1e7), HasSubstr("and must be from"));
  EXPECT_THAT(refused("memory_limit_bytes", -1), HasSubstr("is -1, and must be from 0"));
  EXPECT_THAT(refused("min_repeats", 8), HasSubstr("'measure.max_repeats' is 7, and must be at least 1"));
  EXPECT_THAT(refused("max_repeats", 1'000'001), HasSubstr("is 1000001, and must be from 0 to 1000000"));
  EXPECT_THAT(refused("min_total_seconds", 1e300), HasSubstr("and must be from 0 to"));
  EXPECT_THAT(why_no_job(changed_job("/candidate/trace", std::string(kMaxText + 1, '#'))),
              HasSubstr("'candidate.trace' has 1048577 bytes, and may have 1048576"));
}

TEST(Job, OtherLinesAreRefusedByName) {
  EXPECT_THAT(why_no_job(line_text("record", "{}")),
              HasSubstr("expected a candidate or a job, found a record"));
  EXPECT_THAT(why_no_job(line_of(test::example_job()).substr(10)), HasSubstr("damaged"));
}

TEST(JobReader, GoesOnBehindALineThatIsNone) {
  std::istringstream in(line_of(test::example_job()) + "\n\nnonsense\r\n" +
                        std::string(2 * kMaxLineBytes, '[') + "\n" + line_of(test::example_candidate()));
  JobReader reader(in);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.job().value(), test::example_job());
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(), 3u);
  EXPECT_THAT(reader.job().error(), HasSubstr("damaged: it is no JSON object"));
  ASSERT_TRUE(reader.next());
  EXPECT_THAT(reader.job().error(), HasSubstr("larger than 4194304 bytes"));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.number(), 5u);
  EXPECT_EQ(reader.job()->candidate, test::example_candidate());
  EXPECT_FALSE(reader.next());
}

TEST(Job, EachSeedOfTheFuzzerIsALine) {
  size_t seeds = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TUNESMITH_SOURCE_DIR) /
                                                              "tests/libfuzzer/corpus/lines")) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::string seed;
    std::getline(stream, seed);
    std::string all = seed;
    for (std::string more; std::getline(stream, more);) all += '\n' + more;
    const std::string kind = parse_line_text(seed).kind;
    EXPECT_EQ(kind, file.path().filename());
    if (kind == "candidate" || kind == "job") {
      EXPECT_NO_THROW(parse_job(seed));
    } else if (kind == "turns") {
      EXPECT_NO_THROW(parse_turns(all));
    } else if (kind == "times" || kind == "refusal") {
      EXPECT_NO_THROW(parse_answer(seed));
    } else if (kind == "worker") {
      EXPECT_NO_THROW(parse_worker(seed));
    } else {
      EXPECT_NO_THROW(parse_line(seed)) << kind;
    }
    ++seeds;
  }
  EXPECT_EQ(seeds, 12u);  // one of each kind
}

}  // namespace
}  // namespace tunesmith
