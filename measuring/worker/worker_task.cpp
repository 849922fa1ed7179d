#include "worker/worker_task.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/support/random.h"
#include "tunesmith/target/guarded_kernel.h"
#include "tunesmith/target/separate_device.h"
#include "worker/failure_replies.h"
#include "worker/numbered_entries.h"
#include "worker/timed_calls.h"
#include "worker/timed_check.h"
#include "worker/verify_on_sets.h"

namespace tunesmith {
namespace {

/// How much slower a first call may be than later ones, because of cold caches and unmapped pages.
constexpr double kFirstCall = 4.0;
/// Shorter calls are cheap to repeat, and only repetition shows variation from run to run.
constexpr double kShortCall = 10e-3;
/// Up to this size a second workspace is cheap.
constexpr int64_t kLittleWorkspace = int64_t{64} << 20;
/// The allowed slowdown of a first call of at least kColdCallSeconds: filling caches takes no longer.
constexpr double kColdCall = 2.0;
constexpr double kColdCallSeconds = 1e-3;

/// Changes to the process may explain a wrong result, and devalue a correct one.
bool may_come_of_the_process(const tl::expected<RunReply, FailureReply>& reply) {
  return reply || reply.error().cause == FailureCause::WrongResult ||
         reply.error().cause == FailureCause::OutOfBounds;
}

/// The inputs that may change between calls: those that the preparation has read must stay.
std::vector<size_t> inputs_of_calls(const std::vector<Argument>& arguments, const CompiledKernel& kernel) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool prepared = kernel.prepare && std::ranges::count(kernel.prepare->reads, i) > 0;
    if (!arguments[i].output && !prepared) inputs.push_back(i);
  }
  return inputs;
}

/// The sample after which a candidate's results are compared: the same in each of its measurements.
int look_position(const CompiledKernel& kernel, const SamplingOptions& sampling) {
  const int samples = std::max(sampling.max_repeats, 2);
  return 1 +
         static_cast<int>(RandomStream(hash_bytes(kernel.object)).below(static_cast<uint64_t>(samples - 1)));
}

}  // namespace

WorkerTask::WorkerTask(TaskRequest request) : target_id_(request.target), sampling_(request.sampling) {
  PluginSearch search;
  for (const std::string& path : request.plugin_paths) search.command_line.push_back({path, {}});
  if (!request.lock_file.empty()) search.lock_file = request.lock_file;
  registry_ = std::make_unique<PluginRegistry>(search);
  const std::vector<OptionSpec>& specs = registry_->option_specs(PluginKind::Target, target_id_);
  target_ = registry_->create<Target>(
      target_id_, Options::validate(specs, request.options, plugin_name(PluginKind::Target, target_id_)));
  guard_plugin(PluginKind::Target, target_id_, "open", [&] {
    if (SeparateDevice* const device = target_->separate_device()) device->open();
  });
  // Plugins' initialisers may have changed the mode; programs are verified in the default one.
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  resources_ = std::make_unique<CallResources>(request.threads);
  probe_ = std::make_unique<DisturbanceProbe>(resources_->pool());
  data_ = std::make_unique<TaskData>(request, *target_, *resources_);
  rounds_ = std::make_unique<TimedRounds>(*data_, *resources_);
  foreign_threads_ = std::make_unique<ForeignThreads>();
  descriptors_ = numbered_entries("/proc/self/fd");
}

std::unique_ptr<LoadedKernel> WorkerTask::load(const CompiledKernel& kernel) {
  return load_guarded(*target_, target_id_, kernel);
}

tl::expected<RunReply, FailureReply> WorkerTask::run(const RunRequest& request) {
  rounds_->clear();
  ProcessWatch process(resources_->pool(), *foreign_threads_, descriptors_);
  tl::expected<RunReply, FailureReply> reply = run_candidate(request, process);
  const auto left = process.left_behind();
  if (left && may_come_of_the_process(reply)) return failure_reply(FailureCause::ProcessState, *left);
  return reply;
}

tl::expected<RunReply, FailureReply> WorkerTask::run_candidate(const RunRequest& request,
                                                               ProcessWatch& process) {
  std::unique_ptr<LoadedKernel> loaded;
  try {
    loaded = load(request.kernel);
  } catch (const EnvironmentError& error) {
    return failure_reply(FailureCause::LoadError, error.what());
  }
  auto verified = verify_and_prepare(*loaded, request, process);
  if (!verified) return tl::make_unexpected(std::move(verified.error()));
  if (verified->modelled_seconds) return RunReply{{*verified->modelled_seconds}, verified->worst_error};
  return time_verified(*loaded, request, *verified, process);
}

tl::expected<WorkerTask::VerifiedKernel, FailureReply> WorkerTask::verify_and_prepare(
    LoadedKernel& loaded, const RunRequest& request, ProcessWatch& process) {
  const CompiledKernel& kernel = request.kernel;
  VerifiedKernel verified;
  try {
    verified.space = resources_->workspace(kernel.workspace_bytes);
    probe_->begin();
    // The preparation may request memory that is not available, and no exception
    // may leave a thread. A device's kernels are called by one thread at a time.
    const bool by_several = target_->separate_device() == nullptr && !kernel.prepare &&
                            kernel.workspace_bytes <= kLittleWorkspace;
    const std::vector<Verdict> verdicts =
        verify_on_sets(loaded, kernel, data_->sets(), *resources_, by_several && !request.parallel);
    if (const auto fault = loaded.take_fault()) return failure_of(*fault);
    for (const Verdict& verdict : verdicts) {
      if (verdict.failure) return failure_reply(verdict.failure->cause, verdict.failure->message);
      verified.call_seconds = verdict.seconds;
      verified.worst_error = std::max(verified.worst_error, verdict.worst);
    }
    verified.modelled_seconds = loaded.modelled_seconds();
    if (verified.modelled_seconds) return verified;
    if (by_several && verified.call_seconds <= kShortCall) {
      process.first_calls_done();
      if (const auto wrong = wrong_at_once(loaded, kernel, data_->sets(), *resources_))
        return failure_reply(wrong->cause, wrong->message);
      if (const auto changed = process.changed_by_calls())
        return failure_reply(FailureCause::ProcessState, *changed);
    }
    if (verified.space != nullptr) verified.space->place(Placement::AtEnd);
    verified.prepared =
        prepare(loaded, kernel, data_->timed(), verified.space, resources_->pool(), verified.prepare_seconds);
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    return no_memory(kernel, error);
  }
  return verified;
}

tl::expected<RunReply, FailureReply> WorkerTask::time_verified(LoadedKernel& loaded,
                                                               const RunRequest& request,
                                                               VerifiedKernel& verified,
                                                               ProcessWatch& process) {
  const CompiledKernel& kernel = request.kernel;
  const double limit = request.limit_seconds;
  tunesmith_runtime_pool* const pool = resources_->pool();
  ArgumentMemory& timed = data_->timed();
  const KernelCall call = timed_call(loaded, kernel, timed, verified.prepared.get(), verified.space, pool);
  // By this process's clock, most of a device's time is copying.
  const std::optional<double> on_device = call.device_seconds(1);
  const double verified_call = on_device ? *on_device : verified.call_seconds;
  if (const auto fault = loaded.take_fault()) return failure_of(*fault);
  const auto answer = [&](const std::vector<double>& samples, const Reading& reading) {
    RunReply reply{samples, verified.worst_error};
    // Disturbances of this machine's cores do not affect a device's time.
    if (!on_device) reply.reading = reading;
    if (verified.prepared) reply.prepare_seconds = verified.prepare_seconds;
    return reply;
  };
  if (limit > 0.0 && verified_call > std::max(kShortCall, kFirstCall * sampling_.racing_factor * limit)) {
    return answer({verified_call}, probe_->end());  // hopeless: called once more it would only take longer
  }
  const bool slow =
      limit > 0.0 && verified_call > std::max(kColdCallSeconds, kColdCall * sampling_.racing_factor * limit);
  process.first_calls_done();
  const auto prepare_anew = [&] {
    if (!verified.prepared) return;
    verified.prepare_seconds =
        prepare_into(*verified.prepared, loaded, *kernel.prepare, timed, call.workspace, pool);
  };
  TimedCheck check({timed, data_->usual().memory, data_->other().memory}, call, prepare_anew,
                   *foreign_threads_);
  if (slow) check.begin_without_a_call();
  const double first_call = slow ? 0.0 : check.first_call();
  probe_->begin();
  const std::vector<double> samples =
      slow ? std::vector<double>{time_call(call)}
           : sample_kernel(call, sampling_, limit, first_call,
                           [&, look_after = look_position(kernel, sampling_)](int taken) {
                             if (taken == look_after) check.look();
                           });
  const Reading reading = probe_->end();
  const double best = *std::ranges::min_element(samples);
  std::optional<TimedCheck::Changes> thoroughly;
  // A program that cannot become the best gets no more calls.
  if (!slow && (limit <= 0.0 || best <= kContender * limit)) {
    thoroughly = {inputs_of_calls(data_->arguments(), kernel), on_device ? std::nullopt : std::optional(best),
                  hash_bytes(kernel.object)};
  }
  check.end(thoroughly);
  if (const auto fault = loaded.take_fault()) return failure_of(*fault);
  if (const auto changed = process.changed_by_calls())
    return failure_reply(FailureCause::ProcessState, *changed);
  if (const auto& wrong = check.failure()) return failure_reply(wrong->cause, wrong->message);
  if (verified.space != nullptr && !verified.space->check_canary())
    return failure_reply(FailureCause::OutOfBounds, "wrote outside of the workspace");
  return answer(samples, reading);
}

tl::expected<AddToRoundsReply, FailureReply> WorkerTask::add_to_rounds(const AddToRoundsRequest& request) {
  if (request.begin) rounds_->clear();
  std::unique_ptr<LoadedKernel> loaded;
  try {
    loaded = load(request.kernel);
  } catch (const EnvironmentError& error) {
    return failure_reply(FailureCause::LoadError, error.what());
  }
  return rounds_->add(request, std::move(loaded));
}

tl::expected<TimeInTurnReply, FailureReply> WorkerTask::time_in_turn(const TimeInTurnRequest& request) {
  probe_->begin();
  auto samples = rounds_->time(request.rounds);
  if (!samples) return tl::make_unexpected(std::move(samples.error()));
  return TimeInTurnReply{std::move(*samples), probe_->end()};
}

}  // namespace tunesmith
