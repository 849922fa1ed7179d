// A valid example of each message, and its reader.
#pragma once

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "messages/add_to_rounds.h"
#include "messages/check_rounds.h"
#include "messages/failure.h"
#include "messages/hello.h"
#include "messages/run.h"
#include "messages/task.h"
#include "messages/time_in_turn.h"

namespace tunesmith::test {

struct ReadMessage {
  std::string name;
  Message example;
  /// The fault of a message, or "". Throws if the read message cannot be written and read again.
  std::function<std::string(const Message&)> read;
  std::set<std::string> optional = {};  // JSON pointers of fields that may be missing
};

template <typename Read>
std::function<std::string(const Message&)> reading(Read read) {
  return [read](const Message& message) -> std::string {
    const auto value = read(message);
    if (!value) {
      if (value.error().empty()) throw std::logic_error("refused without a reason");
      return value.error();
    }
    const auto again = read(to_message(*value));
    if (!again) throw std::logic_error("read, but not when it is written again: " + again.error());
    return "";
  };
}

inline const std::vector<Argument>& example_arguments() {
  static const std::vector<Argument> arguments{
      {make_buffer("X", kF32, {4, 3}), false},
      {make_buffer("C", kI8, {2}), false},
      {make_buffer("O", kF32, {2, 2}, kScopeGlobal, false, {3, 1}), true}};
  return arguments;
}

inline CompiledKernel example_kernel() {
  return {"object code",
          "kernel",
          64,
          0.0,
          PrepareStep{"prepare", 128, {0, 1}, {1}},
          SetupStep{"setup", "setup_fault", {"acme.yaml:3: extension 'acme'"}}};
}

inline ReadyReply example_ready() {
  std::vector<Fill> fills(kDataKinds.size());
  for (size_t set = 0; set < fills.size(); ++set) fills[set].kind = kDataKinds[set];
  fills.front().draws = 2;
  return {fills, std::vector<std::string>(3, "n" + std::string(32, '\1'))};
}

inline TaskRequest example_task() {
  TaskRequest task;
  task.target = "faulty";
  RawOption list{"features", {}, RawOption::Shape::List, {{"avx2", {}, true}, {"fma", {}, false}}, {}};
  task.options = {list, {"threads", {}, RawOption::Shape::Scalar, {{"4", {}, false}}, {}}};
  task.plugin_paths = {"/usr/lib/tunesmith/plugins"};
  task.edges.carried = {{true, false}, {true}};
  task.edges.exponents = {1, 1};
  task.edges.extents = {0, 16};
  task.memory_limit_bytes = int64_t{4} << 30;
  task.arguments = example_arguments();
  task.references.assign(kDataKinds.size(), {{"reference", "tunesmith_reference", 0, 0.0}, {true}});
  return task;
}

inline std::vector<ReadMessage> every_message() {
  TaskRequest later = example_task();
  later.fills = example_ready().fills;
  later.results = example_ready().results;
  const size_t buffers = example_arguments().size();
  RunReply timed{{1e-3, 2e-3}, 0.5, Reading{1e-5, 0.0}, 1e-4};
  return {
      {"hello", to_message(Hello{}), reading(read_hello)},
      {"task", to_message(example_task()), reading(read_task_request)},
      {"task with data", to_message(later), reading(read_task_request)},
      {"run",
       to_message(RunRequest{example_kernel(), 1e-3, true}),
       reading([=](const Message& message) { return read_run_request(message, buffers); }),
       {"/prepare", "/setup"}},
      {"add_to_rounds",
       to_message(AddToRoundsRequest{example_kernel(), true, false, 128}),
       reading([=](const Message& message) { return read_add_to_rounds_request(message, buffers); }),
       {"/prepare", "/setup"}},
      {"time_in_turn", to_message(TimeInTurnRequest{4}), reading(read_time_in_turn_request)},
      {"check_rounds", to_message(CheckRoundsRequest{}), reading(read_check_rounds_request)},
      {"ready", to_message(example_ready()),
       reading([](const Message& message) { return read_ready_reply(message, example_arguments()); })},
      {"measured",
       to_message(timed),
       reading([](const Message& message) { return read_run_reply(message, 10); }),
       {"/reading", "/prepare_seconds"}},
      {"added", to_message(AddToRoundsReply{1e-3}), reading(read_add_to_rounds_reply)},
      {"timed", to_message(TimeInTurnReply{{{1e-3, 2e-3}, {3e-3, 4e-3}}, {1e-5, 0.0}}),
       reading([](const Message& message) { return read_time_in_turn_reply(message, 2, 2); })},
      {"checked",
       to_message(CheckRoundsReply{{std::nullopt, CandidateFailure{FailureCause::WrongResult, "O[1] is 2"}}}),
       reading([](const Message& message) { return read_check_rounds_reply(message, 2); })},
      {"failure", to_message(FailureReply{FailureCause::WrongResult, "O[1] is 2, reference 3", false}),
       reading(read_failure_reply)},
      {"error", to_message(ErrorReply{"no device", false}), reading(read_error_reply)},
  };
}

}  // namespace tunesmith::test
