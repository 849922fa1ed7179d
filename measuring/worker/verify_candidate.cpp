#include "worker/verify_candidate.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "tunesmith/verification/float_mode_watch.h"
#include "worker/poisoned_call.h"
#include "worker/prepared_memory.h"

namespace tunesmith {
namespace {

CandidateFailure out_of_bounds(std::string_view where) {
  return {FailureCause::OutOfBounds, fmt::format("wrote outside of {}", where)};
}

Verdict verify_draw(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                    const std::vector<ExpectedOutput>& expected, GuardedBuffer* workspace,
                    tunesmith_runtime_pool* pool) {
  Verdict verdict;
  FloatModeWatch float_mode(pool);
  const auto poison_workspace = [&] {
    if (workspace == nullptr) return;
    workspace->place(data.placement);
    std::memset(workspace->data(), std::to_integer<int>(data.poison),
                static_cast<size_t>(workspace->bytes()));
  };
  std::byte* const unplaced = nullptr;
  std::unique_ptr<PreparedMemory> prepared;
  if (const auto& step = kernel.prepare) {
    prepared = std::make_unique<PreparedMemory>(step->bytes, data.placement, data.poison);
    poison_workspace();
    time_poisoned({loaded.prepare(), data.memory.prepare_pointers(*step, prepared->data()),
                   workspace == nullptr ? unplaced : workspace->data(), pool},
                  data.poison);
    if (float_mode.take_change()) {
      verdict.failure = {FailureCause::ProcessState, kFloatModeChanged};
      return verdict;
    }
    if (!prepared->check_canary()) {
      verdict.failure = out_of_bounds("the prepared memory");
      return verdict;
    }
    prepared->protect();
  }
  poison_workspace();
  data.memory.poison_outputs(data.poison);
  verdict.seconds = time_poisoned(
      {loaded.entry(), data.memory.kernel_pointers(kernel, prepared ? prepared->data() : nullptr),
       workspace == nullptr ? unplaced : workspace->data(), pool},
      data.poison);

  if (const auto changed = take_caller_state_change()) {
    verdict.failure = {FailureCause::ProcessState, *changed};
    return verdict;
  }
  // Comes before any comparison, which needs the restored mode.
  if (float_mode.take_change()) {
    verdict.failure = {FailureCause::ProcessState, kFloatModeChanged};
    return verdict;
  }
  verdict.failure = wrong_after_call(data, expected, workspace, pool, &verdict.worst);
  return verdict;
}

}  // namespace

std::optional<CandidateFailure> wrong_after_call(const DataSet& data,
                                                 const std::vector<ExpectedOutput>& expected,
                                                 const GuardedBuffer* workspace, tunesmith_runtime_pool* pool,
                                                 double* worst) {
  if (workspace != nullptr && !workspace->check_canary()) return out_of_bounds("the workspace");
  if (const Argument* argument = data.memory.touched_around()) return out_of_bounds(argument->buffer->name);
  const size_t inputs = data.memory.size() - expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const OutputDifference comparison = expected[i].compare(data.memory.output(inputs + i), pool);
    if (worst != nullptr) *worst = std::max(*worst, comparison.worst);
    if (comparison.worst > 1.0) return CandidateFailure{FailureCause::WrongResult, comparison.message};
  }
  return std::nullopt;
}

Verdict verify_candidate(const LoadedKernel& loaded, const CompiledKernel& kernel, DataSet& data,
                         GuardedBuffer* workspace, tunesmith_runtime_pool* pool) {
  Verdict worst;
  for (const Draw& draw : data.draws) {
    if (data.draws.size() > 1) data.memory.write_inputs(draw.inputs);
    const Verdict verdict = verify_draw(loaded, kernel, data, draw.expected, workspace, pool);
    worst.seconds = verdict.seconds;
    worst.worst = std::max(worst.worst, verdict.worst);
    worst.failure = verdict.failure;
    if (worst.failure) break;
  }
  return worst;
}

}  // namespace tunesmith
