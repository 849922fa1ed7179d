// "task": what candidates compute and the data for verification. The first question after hello.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/data_sets.h"
#include "worker/argument_memory.h"
#include "worker/time_kernel.h"

namespace tunesmith {

/// The reference for one data set.
struct ReferenceKernel {
  CompiledKernel kernel;
  std::vector<bool> has_bound;  // for each output (reference.h)
};

struct TaskRequest {
  std::string target;
  std::vector<RawOption> options;
  std::vector<std::string> plugin_paths;
  std::string lock_file;  // "": no lock file
  int threads = 0;
  uint64_t data_seed = 1;
  int64_t most_terms = 1;  // as in DataQuestion
  int64_t elements = 1;
  bool exponentiates_below_maximum = false;
  EdgeTraits edges;
  SamplingOptions sampling;
  int64_t memory_limit_bytes = 0;
  std::vector<Argument> arguments;
  std::vector<int64_t> parameters = {};     // values of the candidates' parameters, if they have any
  std::vector<ReferenceKernel> references;  // one for each of kDataKinds
  /// For a replacement worker: the first one's answer (ReadyReply). Empty for the first.
  std::vector<Fill> fills = {};
  std::vector<std::string> results = {};
};

Message to_message(const TaskRequest& request);
tl::expected<TaskRequest, std::string> read_task_request(Message message);

/// The target is there, the data are chosen, the reference was run.
struct ReadyReply {
  std::vector<Fill> fills;           // how the data sets were drawn
  std::vector<std::string> results;  // of the reference: for each set and draw, for each output
};

Message to_message(const ReadyReply& reply);
/// `arguments`: the task's.
tl::expected<ReadyReply, std::string> read_ready_reply(Message message,
                                                       const std::vector<Argument>& arguments);
/// The limits of such an answer.
MessageLimits ready_limits(const std::vector<Argument>& arguments);

/// The same task for a replacement worker.
void add_data(Message& task, ReadyReply reply);

}  // namespace tunesmith
