// The kernels timed in turn: do they still compute what they were verified to compute?
#include <fmt/format.h>

#include "tunesmith/verification/float_mode_watch.h"
#include "worker/worker_task.h"

namespace tunesmith {

void WorkerTask::hold(DataSet& data) {
  // A verification that ended early has left the inputs of an earlier draw.
  if (data.draws.size() > 1) data.memory.write_inputs(data.draws.back().inputs);
  timed_->take_inputs(data.memory);
  timed_->poison_outputs(kPoisonNaN);
}

std::optional<CandidateFailure> WorkerTask::wrong_in_rounds(const DataSet& data) const {
  if (const Argument* argument = timed_->touched_around()) {
    return CandidateFailure{FailureCause::OutOfBounds,
                            fmt::format("wrote outside of {}", argument->buffer->name)};
  }
  const std::vector<ExpectedOutput>& expected = data.draws.back().expected;
  const size_t inputs = timed_->size() - expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputDifference comparison = expected[i].compare(timed_->output(inputs + i), pool_.get());
    if (comparison.worst > 1.0) return CandidateFailure{FailureCause::WrongResult, comparison.message};
  }
  return std::nullopt;
}

std::vector<std::optional<CandidateFailure>> WorkerTask::wrong_after_rounds() {
  DataSet& other = sets_.front();
  hold(other);
  std::vector<std::optional<CandidateFailure>> wrong(rounds_.size());
  FloatModeWatch float_mode(pool_.get());
  for (size_t i = 0; i < rounds_.size(); ++i) {
    const Loaded& loaded = loaded_[i];
    if (!loaded.computes || rounds_[i].modelled) continue;
    timed_->poison_outputs(kPoisonNaN);
    const KernelCall& call = rounds_[i].call;
    if (loaded.prepared) prepare_into(*loaded.prepared, *loaded.kernel, *loaded.step, call.workspace);
    time_call(call);
    if (float_mode.take_change()) {
      wrong[i] = CandidateFailure{FailureCause::ProcessState, kFloatModeChanged};
    } else {
      wrong[i] = wrong_in_rounds(other);
    }
  }
  hold(sets_.back());
  return wrong;
}

}  // namespace tunesmith
