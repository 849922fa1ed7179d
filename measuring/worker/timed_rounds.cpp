#include "worker/timed_rounds.h"

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/verification/float_mode_watch.h"
#include "worker/failure_replies.h"
#include "worker/timed_calls.h"

namespace tunesmith {

tl::expected<AddToRoundsReply, FailureReply> TimedRounds::add(const AddToRoundsRequest& request,
                                                              std::unique_ptr<LoadedKernel> kernel) {
  const CompiledKernel& compiled = request.kernel;
  Loaded loaded{std::move(kernel), nullptr, compiled.prepare, !request.yardstick};
  FloatModeWatch float_mode(resources_.pool());
  GuardedBuffer* space = nullptr;
  try {
    space = resources_.workspace(request.shared_workspace_bytes);
    if (space != nullptr) space->place(Placement::AtEnd);
    double prepare_seconds = 0.0;
    data_.hold(data_.usual());
    loaded.prepared =
        prepare(*loaded.kernel, compiled, data_.timed(), space, resources_.pool(), prepare_seconds);
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    return no_memory(compiled, error);
  }
  InterleavedKernel entry;
  entry.call =
      timed_call(*loaded.kernel, compiled, data_.timed(), loaded.prepared.get(), space, resources_.pool());
  entry.modelled = loaded.kernel->modelled_seconds();
  entry.warm = entry.modelled ? *entry.modelled : time_call(entry.call);
  if (const auto fault = loaded.kernel->take_fault()) return failure_of(*fault);
  if (float_mode.take_change()) return failure_reply(FailureCause::ProcessState, kFloatModeChanged);
  if (loaded.computes && !entry.modelled) {
    if (const auto wrong = wrong_on(data_.usual())) return failure_reply(wrong->cause, wrong->message);
  }
  loaded_.push_back(std::move(loaded));
  kernels_.push_back(std::move(entry));
  return AddToRoundsReply{kernels_.back().warm};
}

tl::expected<std::vector<std::vector<double>>, FailureReply> TimedRounds::time(int rounds) {
  FloatModeWatch float_mode(resources_.pool());
  std::vector<std::vector<double>> samples = time_rounds(kernels_, rounds);
  if (const auto wrong = fault()) return tl::make_unexpected(*wrong);
  float_mode.take_change();  // check() finds the culprit
  return samples;
}

tl::expected<CheckRoundsReply, FailureReply> TimedRounds::check() {
  CheckRoundsReply reply{wrong_after_all()};
  if (const auto wrong = fault()) return tl::make_unexpected(*wrong);
  clear();
  return reply;
}

std::optional<FailureReply> TimedRounds::fault() {
  for (const Loaded& loaded : loaded_) {
    if (const auto found = loaded.kernel->take_fault()) return failure_of(*found).value();
  }
  return std::nullopt;
}

void TimedRounds::clear() {
  kernels_.clear();
  loaded_.clear();
}

std::optional<CandidateFailure> TimedRounds::wrong_on(const DataSet& data) const {
  const ArgumentMemory& timed = data_.timed();
  if (const Argument* argument = timed.touched_around()) {
    return CandidateFailure{FailureCause::OutOfBounds,
                            fmt::format("wrote outside of {}", argument->buffer->name)};
  }
  const std::vector<ExpectedOutput>& expected = data.draws.back().expected;
  const size_t inputs = timed.size() - expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputDifference comparison = expected[i].compare(timed.output(inputs + i), resources_.pool());
    if (comparison.worst > 1.0) return CandidateFailure{FailureCause::WrongResult, comparison.message};
  }
  return std::nullopt;
}

std::vector<std::optional<CandidateFailure>> TimedRounds::wrong_after_all() {
  ArgumentMemory& timed = data_.timed();
  DataSet& other = data_.other();
  data_.hold(other);
  std::vector<std::optional<CandidateFailure>> wrong(kernels_.size());
  FloatModeWatch float_mode(resources_.pool());
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Loaded& loaded = loaded_[i];
    if (!loaded.computes || kernels_[i].modelled) continue;
    timed.poison_outputs(kPoisonNaN);
    const KernelCall& call = kernels_[i].call;
    if (loaded.prepared)
      prepare_into(*loaded.prepared, *loaded.kernel, *loaded.step, timed, call.workspace, resources_.pool());
    time_call(call);
    if (float_mode.take_change()) {
      wrong[i] = CandidateFailure{FailureCause::ProcessState, kFloatModeChanged};
    } else {
      wrong[i] = wrong_on(other);
    }
  }
  data_.hold(data_.usual());
  return wrong;
}

}  // namespace tunesmith
