#include "tunesmith/measuring/worker_runner.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "messages/add_to_rounds.h"
#include "messages/check_rounds.h"
#include "messages/run.h"
#include "messages/time_in_turn.h"
#include "runner/disturbance.h"
#include "runner/interleave.h"
#include "runner/task_worker.h"
#include "runner/varying_runner.h"
#include "tunesmith/measuring/machine_lock.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/error.h"
#include "tunesmith/target/guarded_kernel.h"
#include "tunesmith/target/separate_device.h"

namespace tunesmith {
namespace {

constexpr double kPatience = 6.0;  // multiple of a candidate's allowed or observed time
// A candidate this many times slower than the best is not waited for, but a stall of the machine is.
constexpr double kHopeless = 1000.0;
constexpr double kStallSeconds = 2.0;
constexpr std::ptrdiff_t kLiveWorkers = 6;  // each has memory of its own

class WorkerRunner final : public Runner {
 public:
  WorkerRunner(const Workload& workload, Target& target, const WorkerTarget& worker_target,
               const MeasureOptions& options, const std::vector<int64_t>& parameters)
      : options_(options),
        models_times_(models_times(target)),
        target_(target),
        worker_target_(worker_target),
        own_(workload, target, worker_target, options, parameters) {
    // Where twins are verified, the full shape's reference may never be needed, and may take long. Of a
    // range, values that are only ranked need none until the end.
    if (twins_of(target) == nullptr && parameters.empty()) own_.prepare();
  }

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    const MachineLock::Turn turn = take_turn();
    std::vector<MeasureResult> results;
    double best = 0.0;  // as far as known; 0: unknown
    const auto measure = [&](size_t i) {
      MeasureRequest request = requests[i];
      if (request.limit_seconds > 0.0 && best > 0.0)
        request.limit_seconds = std::min(request.limit_seconds, best);
      MeasureResult result = run_fairly(request);
      if (result.timing) best = best > 0.0 ? std::min(best, result.timing->min) : result.timing->min;
      return result;
    };
    for (size_t i = 0; i < requests.size(); ++i) results.push_back(measure(i));
    for (const MeasureRequest& request : requests) {
      if (request.limit_seconds > 0.0) best = std::min(best, request.limit_seconds);
    }
    repeat_disturbed(results, detector_, best, measure, [&] { return !stopped(); });
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    if (twins_of(target_) != nullptr) return modelled(kernels, options);
    Rounds rounds(*this, kernels, options.yardstick);
    std::vector<InterleavedTimes> times = tunesmith::interleave(rounds, kernels.size(), options);
    for (size_t i = 0; i < kernels.size() && !stopped(); ++i) {
      if (times[i].failure && kernels.size() > 1)
        times[i].failure = failure_alone(kernels.subspan(i, 1), options, *times[i].failure);
    }
    return times;
  }

  std::vector<std::string> not_exercised() const override { return own_.not_exercised(); }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  MachineLock::Turn take_turn() const {
    return options_.machine ? options_.machine->wait(MachineLock::Use::Measure, options_.stop)
                            : MachineLock::Turn();
  }

  /// The kernel's own failure, from a worker that it does not share: in turn, all kernels share one.
  CandidateFailure failure_alone(std::span<const CompiledKernel* const> kernel,
                                 const InterleaveOptions& options, const CandidateFailure& beside_others) {
    if (!may_be_anothers(beside_others.cause, false)) return beside_others;
    own_.end();
    Rounds rounds(*this, kernel, options.yardstick);
    const InterleavedTimes times = tunesmith::interleave(rounds, 1, {.rounds = options.min_rounds}).front();
    if (times.failure) return *times.failure;
    return {FailureCause::WorkerLost,
            fmt::format("only beside the others that were timed in turn: {}: {}",
                        failure_cause_name(beside_others.cause), beside_others.message)};
  }

  /// The worker for a request. Kills some of those that were unused for longest.
  TaskWorker& worker_for(const MeasureRequest& request) {
    if (request.instance == nullptr) return own_;
    Instance& wanted = instances_[{request.instance->key, request.instance->hash}];
    if (!wanted.worker)
      wanted.worker = std::make_unique<TaskWorker>(*request.instance, target_, worker_target_, options_);
    wanted.asked = ++asked_;
    const auto is_running = [](const auto& entry) { return entry.second.worker->running(); };
    while (!wanted.worker->running() && std::ranges::count_if(instances_, is_running) >= kLiveWorkers) {
      Instance* oldest = nullptr;
      for (auto& [other, instance] : instances_) {
        if (instance.worker->running() && (oldest == nullptr || instance.asked < oldest->asked))
          oldest = &instance;
      }
      oldest->worker->end();
    }
    return *wanted.worker;
  }

  MeasureResult run_fairly(const MeasureRequest& request) {
    TaskWorker& worker = worker_for(request);
    const bool alone = !worker.running();  // the first that this worker runs
    MeasureResult result = run_one(worker, request);
    if (!result.failure || stopped() || !may_be_anothers(result.failure->cause, alone)) return result;
    worker.end();
    return run_one(worker, request);
  }

  /// Modelled times need no run.
  std::vector<InterleavedTimes> modelled(std::span<const CompiledKernel* const> kernels,
                                         const InterleaveOptions& options) {
    std::vector<InterleavedTimes> times(kernels.size());
    for (size_t i = 0; i < kernels.size() && !stopped(); ++i) {
      try {
        const auto seconds = load_guarded(target_, worker_target_.id, *kernels[i])->modelled_seconds();
        check_invariant(seconds.has_value(), "who verifies twins models times");
        times[i].samples.assign(static_cast<size_t>(options.rounds), *seconds);
      } catch (const PluginError& error) {
        times[i].failure = {FailureCause::PluginError, error.what()};
      }
    }
    return times;
  }

  /// An earlier candidate may have damaged the worker (memory, signals, a running
  /// thread), or another process may have killed it. A fresh worker tells.
  static bool may_be_anothers(FailureCause cause, bool alone) {
    switch (cause) {
      case FailureCause::WorkerLost:
        return true;
      case FailureCause::WrongResult:
      case FailureCause::OutOfBounds:
      case FailureCause::ProcessState:
      case FailureCause::ImplausibleTime:
      case FailureCause::Crash:
      case FailureCause::OutOfMemory:
      case FailureCause::IllegalInstruction:
        return !alone;
      default:
        return false;
    }
  }

  MeasureResult run_one(TaskWorker& worker, const MeasureRequest& request) {
    const Message question = to_message(RunRequest{*request.kernel, request.limit_seconds, request.parallel});
    double time_out = options_.time_out_seconds;
    // The time that a program runs here is unrelated to its modelled time.
    if (request.limit_seconds > 0.0 && !models_times_)
      time_out = std::min(time_out, std::max(kStallSeconds, kHopeless * request.limit_seconds));
    const auto max_samples = static_cast<size_t>(std::max({1, options_.min_repeats, options_.max_repeats}));
    const auto reply = worker.ask(question, time_out,
                                  [&](const Message& answer) { return read_run_reply(answer, max_samples); });
    MeasureResult result;
    if (!reply) {
      result.failure = reply.error().failure;
      result.disturbed = reply.error().disturbed;
      return result;
    }
    result.timing = make_timing(reply->samples);
    // Modelled times and those by a device's clock have no reading: nothing on this machine disturbs them.
    result.disturbed = reply->reading && detector_.disturbed(*reply->reading);
    if (reply->prepare_seconds) result.timing->prepare = *reply->prepare_seconds;
    result.verified_error = reply->verified_error;
    return result;
  }

  /// The worker's side of interleave().
  class Rounds final : public InterleavedRounds {
   public:
    Rounds(WorkerRunner& runner, std::span<const CompiledKernel* const> kernels,
           const CompiledKernel* yardstick)
        : runner_(runner), kernels_(kernels), yardstick_(yardstick) {
      for (const CompiledKernel* kernel : kernels) workspace_ = std::max(workspace_, kernel->workspace_bytes);
    }

    tl::expected<double, CandidateFailure> add(size_t kernel, bool first) override {
      const CompiledKernel& added = *kernels_[kernel];
      const Message question = to_message(AddToRoundsRequest{added, first, &added == yardstick_, workspace_});
      const MachineLock::Turn turn = runner_.take_turn();
      // It may be the unscheduled program, which may be slow.
      const auto reply =
          runner_.own_.ask(question, kPatience * runner_.options_.time_out_seconds, read_add_to_rounds_reply);
      if (!reply) return tl::make_unexpected(reply.error().failure);
      added_ = first ? 1 : added_ + 1;
      return reply->seconds;
    }

    bool alive() const override { return runner_.own_.running(); }

    tl::expected<Samples, CandidateFailure> time(int rounds, double expected_seconds) override {
      const MachineLock::Turn turn = runner_.take_turn();
      const auto reply =
          runner_.own_.ask(to_message(TimeInTurnRequest{rounds}),
                           kStallSeconds + kPatience * expected_seconds, [&](const Message& answer) {
                             return read_time_in_turn_reply(answer, added_, static_cast<size_t>(rounds));
                           });
      if (!reply) return tl::make_unexpected(reply.error().failure);
      return Samples{reply->samples, runner_.detector_.disturbed(reply->reading)};
    }

    tl::expected<Failures, CandidateFailure> check() override {
      const MachineLock::Turn turn = runner_.take_turn();
      auto reply =
          runner_.own_.ask(to_message(CheckRoundsRequest{}), kPatience * runner_.options_.time_out_seconds,
                           [&](const Message& answer) { return read_check_rounds_reply(answer, added_); });
      if (!reply) return tl::make_unexpected(reply.error().failure);
      return std::move(reply->failures);
    }

   private:
    WorkerRunner& runner_;
    std::span<const CompiledKernel* const> kernels_;
    const CompiledKernel* yardstick_;
    int64_t workspace_ = 0;  // shared by all
    size_t added_ = 0;       // kernels in the rounds
  };

  struct Instance {
    std::unique_ptr<TaskWorker> worker;
    uint64_t asked = 0;  // the instance's last use: a value of asked_
  };

  MeasureOptions options_;
  bool models_times_;
  Target& target_;
  WorkerTarget worker_target_;
  TaskWorker own_;
  /// Smaller instances, by key and hash: two with one key may have different layouts.
  std::map<std::pair<std::string, uint64_t>, Instance> instances_;
  uint64_t asked_ = 0;
  DisturbanceDetector detector_;  // outlives the workers
};

}  // namespace

std::unique_ptr<Runner> make_worker_runner(const Workload& workload, Target& target,
                                           const WorkerTarget& worker_target, const MeasureOptions& options) {
  if (!workload.program.parameters.empty()) {
    if (!target.lower_options().parameters)
      throw UserError(fmt::format("target '{}' does not support varying extents", worker_target.id),
                      "give every parameter of the workload a single value");
    return make_varying_runner(workload, options,
                               [&](const std::vector<int64_t>& values, const MeasureOptions& how) {
                                 return std::make_unique<WorkerRunner>(at_values(workload, values), target,
                                                                       worker_target, how, values);
                               });
  }
  return std::make_unique<WorkerRunner>(workload, target, worker_target, options, std::vector<int64_t>());
}

}  // namespace tunesmith
