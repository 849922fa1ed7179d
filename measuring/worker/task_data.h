// The data that a task's candidates are verified on and timed with.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "messages/task.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/choose_data.h"
#include "worker/call_resources.h"
#include "worker/verify_candidate.h"

namespace tunesmith {

class TaskData {
 public:
  /// Chooses the data sets and runs the reference on them, or takes both from the
  /// request. Throws UserError if no data can distinguish wrong results from rounding.
  TaskData(const TaskRequest& request, Target& target, CallResources& resources);

  /// Inputs and outputs.
  const std::vector<Argument>& arguments() const { return arguments_; }
  /// In the order of kDataKinds, one for each kind.
  std::deque<DataSet>& sets() { return sets_; }
  /// The set for the timed calls, and one with other inputs.
  DataSet& usual() { return sets_.back(); }
  DataSet& other() { return sets_.front(); }
  /// The buffers of the timed calls.
  ArgumentMemory& timed() { return *timed_; }
  /// The timed buffers get the inputs of the set's last draw, and poisoned outputs.
  void hold(DataSet& data);

  /// The answer from which a replacement worker gets data and results.
  ReadyReply ready() const;

 private:
  DataQuestion question_of(const TaskRequest& request, size_t set) const;
  void set_inputs(DataSet& data, const std::vector<Tensor>& inputs);
  void choose(const CompiledKernel& reference, DataSet& data, const DataQuestion& question);
  /// Redraws the exact set so that it sees every term of the longest sums. False if it cannot.
  bool draw_several_times(const CompiledKernel& reference, const DataQuestion& question);
  bool take_draws(DataSet& data, Fill& fill, std::vector<DrawnData> draws);
  RunReference runner_of(const CompiledKernel& reference, const LoadedKernel& loaded);
  /// `result`: the next of the request's.
  void take(const TaskRequest& request, const DataQuestion& question, size_t set, size_t& result);

  Target& target_;
  const std::string target_id_;
  CallResources& resources_;
  const std::vector<Argument> arguments_;
  std::deque<DataSet> sets_;
  std::vector<Fill> fills_;                // for each of them
  std::unique_ptr<ArgumentMemory> timed_;  // with the inputs of the last set
};

}  // namespace tunesmith
