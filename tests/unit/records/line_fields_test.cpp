// Each field of each kind of line is required and has a type and a limit.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Fields that records of older versions, measurements outside a search, or successes may lack.
const std::set<std::string> kMayBeMissing{"round", "score", "verified_on", "verifier", "message"};

Line seed_of(const std::string& kind) {
  std::ifstream file(std::filesystem::path(TUNESMITH_SOURCE_DIR) / "tests/libfuzzer/corpus/lines" / kind);
  std::string text;
  std::getline(file, text);
  return parse_line_text(text);
}

/// Why the kind's seed is refused with another `content`; "" if it is not.
std::string why_refused(const std::string& kind, const json& content) {
  try {
    parse_line(line_text(kind, canonical_text(content)));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

class LineFields : public testing::TestWithParam<const char*> {
 protected:
  const json content_ = seed_of(GetParam()).content;
  const json flat_ = content_.flatten();
};

TEST_P(LineFields, AreReadAndWrittenAgain) { EXPECT_EQ(why_refused(GetParam(), content_), ""); }

TEST_P(LineFields, AreNeeded) {
  for (const auto& [pointer, value] : flat_.items()) {
    const json::json_pointer place(pointer);
    json changed = content_;
    json& parent = changed[place.parent_pointer()];
    if (!parent.is_object()) continue;
    parent.erase(place.back());
    if (kMayBeMissing.contains(place.back())) {
      EXPECT_EQ(why_refused(GetParam(), changed), "") << pointer;
    } else {
      EXPECT_THAT(why_refused(GetParam(), changed), HasSubstr(place.back() + "' is missing"));
    }
  }
}

TEST_P(LineFields, HaveATypeAndALimit) {
  for (const auto& [pointer, value] : flat_.items()) {
    json changed = content_;
    json& field = changed[json::json_pointer(pointer)];
    if (value.is_null()) continue;
    field = json::object();
    EXPECT_THAT(why_refused(GetParam(), changed), HasSubstr("is of the type object, and must be")) << pointer;
    if (!value.is_string()) continue;
    field = std::string(kMaxText + 1, 'x');
    EXPECT_THAT(why_refused(GetParam(), changed), HasSubstr("has 1048577 bytes, and may have")) << pointer;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, LineFields, testing::Values("workload", "space", "run", "roof", "record"),
                         [](const auto& kind) { return std::string(kind.param); });

std::string why_record_refused(const char* pointer, const json& value) {
  json content = seed_of("record").content;
  content[json::json_pointer(pointer)] = value;
  return why_refused("record", content);
}

TEST(RecordLine, SaysWhatContradicts) {
  EXPECT_THAT(why_record_refused("/status", "failed"),
              HasSubstr("'status' and its cause contradict each other"));
  EXPECT_THAT(why_record_refused("/kind", "guess"), HasSubstr("is 'guess', not a kind of measurement"));
  EXPECT_THAT(why_record_refused("/cause", "bad_luck"),
              HasSubstr("is 'bad_luck', which is no cause of a failure"));
  EXPECT_THAT(why_record_refused("/seconds/samples/0", -1.0),
              HasSubstr("'seconds.samples[0]' is -1, and must be"));
  EXPECT_THAT(why_record_refused("/workload_hash", "12"),
              HasSubstr("is '12', and must be 16 hexadecimal digits"));
  EXPECT_THAT(why_record_refused("/threads", 65537),
              HasSubstr("'threads' is 65537, and must be from 1 to 65536"));
}

}  // namespace
}  // namespace tunesmith
