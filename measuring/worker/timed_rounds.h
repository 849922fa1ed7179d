// Kernels that are timed in turn.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "messages/add_to_rounds.h"
#include "messages/check_rounds.h"
#include "messages/failure.h"
#include "messages/time_in_turn.h"
#include "worker/call_resources.h"
#include "worker/prepared_memory.h"
#include "worker/task_data.h"
#include "worker/time_kernel.h"

namespace tunesmith {

class TimedRounds {
 public:
  /// Both outlive this.
  TimedRounds(TaskData& data, CallResources& resources) : data_(data), resources_(resources) {}

  tl::expected<AddToRoundsReply, FailureReply> add(const AddToRoundsRequest& request,
                                                   std::unique_ptr<LoadedKernel> kernel);
  tl::expected<std::vector<std::vector<double>>, FailureReply> time(int rounds);
  /// Calls each kernel once more, on other contents of the same buffers.
  tl::expected<CheckRoundsReply, FailureReply> check();
  void clear();

 private:
  /// The fault in the results that a call on the set has left in the timed buffers.
  std::optional<CandidateFailure> wrong_on(const DataSet& data) const;
  std::vector<std::optional<CandidateFailure>> wrong_after_all();
  std::optional<FailureReply> fault();

  /// The resources of a kernel in the rounds.
  struct Loaded {
    std::unique_ptr<LoadedKernel> kernel;
    std::unique_ptr<PreparedMemory> prepared;
    std::optional<PrepareStep> step;
    bool computes = true;  // outputs: the yardstick does not
  };
  TaskData& data_;
  CallResources& resources_;
  std::vector<Loaded> loaded_;
  std::vector<InterleavedKernel> kernels_;
};

}  // namespace tunesmith
