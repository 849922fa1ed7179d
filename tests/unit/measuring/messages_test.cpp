// Every reader refuses every wrong field, and names it.
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "every_message.h"
#include "message_bytes.h"
#include "messages/limits.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {
namespace {

using nlohmann::json;
using test::every_message;
using test::ReadMessage;
using testing::HasSubstr;

/// Pointers to all members of objects, and all elements of lists, at any depth.
std::vector<json::json_pointer> places_in(const json& value,
                                          const json::json_pointer& at = json::json_pointer()) {
  std::vector<json::json_pointer> places;
  const auto add = [&](const json& child, const json::json_pointer& place) {
    places.push_back(place);
    for (const json::json_pointer& deeper : places_in(child, place)) places.push_back(deeper);
  };
  if (value.is_object())
    for (const auto& [name, child] : value.items()) add(child, at / name);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i) add(value[i], at / i);
  return places;
}

template <typename T>
std::string why(const tl::expected<T, std::string>& read) {
  return read ? "" : read.error();
}

/// Converts "/references/1/symbol" to the readers' form: "references[1].symbol".
std::string written(const json::json_pointer& place) {
  std::string text;
  std::string token;
  for (json::json_pointer left = place; !left.empty(); left.pop_back()) {
    token = left.back();
    const bool index = token.find_first_not_of("0123456789") == std::string::npos;
    text = (index ? "[" + token + "]" : "." + token) + text;
  }
  return text.substr(1);
}

/// Integers and other numbers are of the same type.
bool same_type(const json& a, const json& b) {
  return a.type() == b.type() || (a.is_number() && b.is_number());
}

TEST(Messages, EachReaderReadsWhatItsWriterWrites) {
  for (const ReadMessage& one : every_message()) EXPECT_EQ(one.read(one.example), "") << one.name;
}

TEST(Messages, NoReaderTakesAnothersMessage) {
  const std::vector<ReadMessage> all = every_message();
  for (const ReadMessage& one : all) {
    for (const ReadMessage& other : all) {
      if (one.example.header["type"] == other.example.header["type"]) continue;
      EXPECT_NE(one.read(other.example), "") << one.name << " takes " << other.name;
    }
  }
}

TEST(Messages, EachFieldIsNeeded) {
  for (const ReadMessage& one : every_message()) {
    for (const json::json_pointer& place : places_in(one.example.header)) {
      Message changed = one.example;
      json& parent = changed.header[place.parent_pointer()];
      if (!parent.is_object()) continue;
      parent.erase(place.back());
      const std::string wrong = one.read(changed);
      if (one.optional.contains(place.to_string())) {
        EXPECT_EQ(wrong, "") << one.name << place.to_string();
      } else if (place.to_string() == "/fills") {
        EXPECT_THAT(wrong, HasSubstr(one.name == "ready" ? "'fills' is missing" : "and 0 draws"));
      } else {
        EXPECT_THAT(wrong, HasSubstr(fmt::format("its field '{}' is missing", written(place)))) << one.name;
      }
    }
  }
}

TEST(Messages, EachFieldHasAType) {
  const std::vector<json> others{nullptr, true, 1, -1, 0.5, "text", json::array(), json::object(), {1, 2}};
  for (const ReadMessage& one : every_message()) {
    for (const json::json_pointer& place : places_in(one.example.header)) {
      for (const json& other : others) {
        Message changed = one.example;
        if (same_type(changed.header[place], other)) continue;
        changed.header[place] = other;
        EXPECT_THAT(one.read(changed), HasSubstr(fmt::format("'{}' is of the type {}, and must be ",
                                                             written(place), other.type_name())))
            << one.name;
      }
    }
  }
}

TEST(Messages, NothingIsBeyondItsLimit) {
  for (const ReadMessage& one : every_message()) {
    for (const json::json_pointer& place : places_in(one.example.header)) {
      const json& value = one.example.header[place];
      Message changed = one.example;
      json& field = changed.header[place];
      if (value.is_string()) field = std::string(kMaxText + 1, 'x');
      if (value.is_array()) field = json(json::array_t(5'000, value.empty() ? json(0) : value[0]));
      if (value.is_number()) field = 1e300;
      if (field == value) continue;  // an object, or a boolean
      EXPECT_THAT(one.read(changed), HasSubstr(written(place))) << one.name;
      if (!value.is_number()) continue;
      for (const json& number :
           {json(-1), json(std::numeric_limits<int64_t>::min()), json(std::numeric_limits<uint64_t>::max()),
            json(-1e300), json(std::numeric_limits<double>::quiet_NaN())}) {
        field = number;
        EXPECT_NO_THROW(one.read(changed)) << one.name << place.to_string();
      }
    }
    Message more = one.example;
    more.attachments.resize(more.attachments.size() + 1);
    EXPECT_NO_THROW(one.read(more));
    more.attachments.clear();
    EXPECT_NO_THROW(one.read(more));
  }
}

std::string run_reply(const char* field, const json& value) {
  Message message = to_message(RunReply{{1e-3}, 0.0});
  message.header[field] = value;
  return why(read_run_reply(message, 3));
}

TEST(Messages, TimesAreTimes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(run_reply("samples", {0.0}), HasSubstr("'samples[0]' is 0, and must be from"));
  EXPECT_THAT(run_reply("samples", {1e-3, -1.0}), HasSubstr("'samples[1]' is -1, and must be from"));
  EXPECT_THAT(run_reply("samples", {nan}), HasSubstr("'samples[0]' is nan, and must be from"));
  EXPECT_THAT(run_reply("samples", json::array()), HasSubstr("has 0 elements, and must have from 1 to 3"));
  EXPECT_THAT(run_reply("samples", {1, 2, 3, 4}), HasSubstr("has 4 elements, and must have from 1 to 3"));
  EXPECT_THAT(run_reply("verified_error", 1.5),
              HasSubstr("'verified_error' is 1.5, and must be from 0 to 1"));
  const Message timed = to_message(TimeInTurnReply{{{1e-3}, {1e-3}}, {}});
  EXPECT_TRUE(read_time_in_turn_reply(timed, 2, 1));
  EXPECT_FALSE(read_time_in_turn_reply(timed, 3, 1));
  EXPECT_FALSE(read_time_in_turn_reply(timed, 2, 2));
}

TEST(Messages, ACauseIsOneThatIsKnown) {
  Message message = to_message(FailureReply{FailureCause::Crash, "", false});
  message.header["cause"] = "bad_luck";
  EXPECT_EQ(why(read_failure_reply(message)),
            "its field 'cause' is 'bad_luck', which is no cause of a failure");
}

TEST(Messages, ALongMessageOfAFailureIsCut) {
  const Message message = to_message(FailureReply{FailureCause::Crash, std::string(1 << 20, '\xff'), false});
  const std::string bytes = test::frame(message.header.dump(-1, ' ', false, json::error_handler_t::replace));
  const Received received = test::receive_bytes(bytes, kPlainAnswer);
  ASSERT_EQ(received.status, TransferStatus::Done);
  EXPECT_TRUE(read_failure_reply(received.message));
}

TEST(Messages, ResultsOfTheReferenceFitTheirBuffers) {
  for (const char* wrong : {"", "n", "x12345678901234567890123456789012", "w12345678901234567890123456789012",
                            "e1234567890123456"}) {
    Message ready = to_message(test::example_ready());
    ready.attachments.back() = wrong;
    EXPECT_THAT(why(read_ready_reply(ready, test::example_arguments())),
                HasSubstr("result 2 of the reference does not fit 'O'"))
        << wrong;
  }
}

TEST(Messages, ElementsOfABufferHavePlacesOfTheirOwn) {
  for (const json& wrong : {json{1, 1}, json{3}, json{3, 1, 1}, json{int64_t{1} << 59, 1}}) {
    Message task = to_message(test::example_task());
    task.header["buffers"][2]["strides"] = wrong;
    EXPECT_THAT(why(read_task_request(task)), HasSubstr("buffers[2].strides")) << wrong;
  }
}

TEST(Messages, PositionsAreOfBuffersThatThereAre) {
  Message run = to_message(RunRequest{test::example_kernel(), 0.0, true});
  run.header["prepare"]["reads"] = {3};
  EXPECT_THAT(why(read_run_request(run, 3)), HasSubstr("'prepare.reads[0]' is 3, and must be from 0 to 2"));
}

TEST(Messages, EachSeedOfTheFuzzerIsAMessage) {
  std::set<std::string> read;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TUNESMITH_SOURCE_DIR) /
                                                              "tests/libfuzzer/corpus/worker_messages")) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(stream), {}};
    const Received received = test::receive_bytes(test::frame_of_seed(seed), kQuestion);
    ASSERT_EQ(received.status, TransferStatus::Done) << file.path() << ": " << received.nonsense;
    bool taken = false;
    for (const ReadMessage& one : every_message()) {
      if (!one.read(received.message).empty()) continue;
      taken = true;
      read.insert(one.name);
    }
    EXPECT_TRUE(taken) << file.path();
  }
  EXPECT_EQ(read.size(), every_message().size());
}

}  // namespace
}  // namespace tunesmith
