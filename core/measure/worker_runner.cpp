#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "measure/disturbance.h"
#include "measure/interleave.h"
#include "measure/message_parts.h"
#include "measure/task_worker.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/thread_pool.h"

namespace tunesmith {
namespace {

using nlohmann::json;

constexpr double kPatience = 6.0;  // times what a candidate may take, or was seen to take
// A candidate this many times slower than the best is not waited for, but a stall of the machine is.
constexpr double kHopeless = 1000.0;
constexpr double kStallSeconds = 2.0;
constexpr std::ptrdiff_t kLiveWorkers = 6;  // each has memory of its own

tl::unexpected<CandidateFailure> failed(const json& header) {
  return tl::make_unexpected(
      CandidateFailure{*parse_failure_cause(header.at("failure").get<std::string>()), header.at("message")});
}

class WorkerRunner final : public Runner {
 public:
  WorkerRunner(const Workload& workload, Target& target, const WorkerTarget& worker_target,
               const MeasureOptions& options)
      : options_(options),
        models_times_(target.models_times()),
        target_(target),
        worker_target_(worker_target),
        own_(workload, target, worker_target, options) {
    // Where twins are verified it may never be needed, and take long.
    if (!target.verifies_twins()) own_.prepare();
  }

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    const MachineLock::Turn turn = take_turn();
    std::vector<MeasureResult> results;
    double best = 0.0;  // as far as it is known; 0: it is not
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
    repeat_disturbed(results, judge_, best, measure, [&] { return !stopped(); });
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    if (target_.verifies_twins()) return modelled(kernels, options);
    Rounds rounds(*this, kernels);
    return tunesmith::interleave(rounds, kernels.size(), options);
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  MachineLock::Turn take_turn() const {
    return options_.machine ? options_.machine->wait(MachineLock::Use::Measure, options_.stop)
                            : MachineLock::Turn();
  }

  /// The worker for what is asked. Of those not asked for the longest time, some are ended.
  TaskWorker& worker_for(const MeasureRequest& request) {
    if (request.instance == nullptr) return own_;
    const std::string& key = request.instance->key;
    Instance& wanted = instances_[key];
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

  /// A model's times are told without running anything.
  std::vector<InterleavedTimes> modelled(std::span<const CompiledKernel* const> kernels,
                                         const InterleaveOptions& options) {
    std::vector<InterleavedTimes> times(kernels.size());
    for (size_t i = 0; i < kernels.size() && !stopped(); ++i) {
      const auto seconds = target_.load(*kernels[i])->modelled_seconds();
      check_invariant(seconds.has_value(), "who verifies twins models times");
      times[i].samples.assign(static_cast<size_t>(options.rounds), *seconds);
    }
    return times;
  }

  /// What a candidate did to its worker (corrupted memory, or took it) may show in one that comes after it,
  /// and a worker may be ended by somebody else. A fresh worker tells.
  static bool may_be_anothers(FailureCause cause, bool alone) {
    if (cause == FailureCause::WorkerLost) return true;
    return !alone && (cause == FailureCause::Crash || cause == FailureCause::OutOfMemory ||
                      cause == FailureCause::IllegalInstruction);
  }

  MeasureResult run_one(TaskWorker& worker, const MeasureRequest& request) {
    Message question;
    question.header = kernel_header(*request.kernel);
    question.header["type"] = "run";
    question.header["limit_seconds"] = request.limit_seconds;
    question.header["parallel"] = request.parallel;
    question.attachments = {request.kernel->object};
    double time_out = options_.time_out_seconds;
    // How long a program runs here says nothing of a time that a model gives.
    if (request.limit_seconds > 0.0 && !models_times_)
      time_out = std::min(time_out, std::max(kStallSeconds, kHopeless * request.limit_seconds));
    const WorkerProcess::Reply reply = worker.ask(question, time_out);
    MeasureResult result;
    if (!reply.message) {
      result.failure = reply.failure;
      result.disturbed = reply.disturbed;
      return result;
    }
    const json& header = reply.message->header;
    if (header.contains("failure")) {
      result.failure = failed(header).value();
      return result;
    }
    result.timing = make_timing(header.at("samples").get<std::vector<double>>());
    // A model's time has no reading: nothing can disturb it.
    result.disturbed = header.contains("reading") && judge_.disturbed(reading_from(header));
    if (header.contains("prepare_seconds")) result.timing->prepare = header.at("prepare_seconds");
    result.verified_error = header.at("verified_error");
    return result;
  }

  /// The worker's side of interleave().
  class Rounds final : public InterleavedRounds {
   public:
    Rounds(WorkerRunner& runner, std::span<const CompiledKernel* const> kernels)
        : runner_(runner), kernels_(kernels) {
      for (const CompiledKernel* kernel : kernels) workspace_ = std::max(workspace_, kernel->workspace_bytes);
    }

    tl::expected<double, CandidateFailure> add(size_t kernel, bool first) override {
      Message question;
      question.header = kernel_header(*kernels_[kernel]);
      question.header["type"] = "add_to_rounds";
      question.header["begin"] = first;
      question.header["shared_workspace_bytes"] = workspace_;
      question.attachments = {kernels_[kernel]->object};
      const MachineLock::Turn turn = runner_.take_turn();
      // It may be the unscheduled program, which may be slow.
      const WorkerProcess::Reply reply =
          runner_.own_.ask(question, kPatience * runner_.options_.time_out_seconds);
      if (!reply.message) return tl::make_unexpected(reply.failure);
      const json& header = reply.message->header;
      if (header.contains("failure")) return failed(header);
      return header.at("seconds").get<double>();
    }

    bool alive() const override { return runner_.own_.running(); }

    tl::expected<Samples, CandidateFailure> time(int rounds, double expected_seconds) override {
      const MachineLock::Turn turn = runner_.take_turn();
      Message question;
      question.header = {{"type", "time_in_turn"}, {"rounds", rounds}};
      const WorkerProcess::Reply reply =
          runner_.own_.ask(question, kStallSeconds + kPatience * expected_seconds);
      if (!reply.message) return tl::make_unexpected(reply.failure);
      const json& header = reply.message->header;
      if (header.contains("failure")) return failed(header);
      return Samples{header.at("samples"), runner_.judge_.disturbed(reading_from(header))};
    }

   private:
    WorkerRunner& runner_;
    std::span<const CompiledKernel* const> kernels_;
    int64_t workspace_ = 0;  // that all share
  };

  struct Instance {
    std::unique_ptr<TaskWorker> worker;
    uint64_t asked = 0;  // the last time, by asked_
  };

  MeasureOptions options_;
  bool models_times_;
  Target& target_;
  WorkerTarget worker_target_;
  TaskWorker own_;
  std::map<std::string, Instance> instances_;  // smaller ones, by their keys
  uint64_t asked_ = 0;
  DisturbanceJudge judge_;  // outlives the workers
};

}  // namespace

Runner::~Runner() = default;

std::unique_ptr<Runner> make_worker_runner(const Workload& workload, Target& target,
                                           const WorkerTarget& worker_target, const MeasureOptions& options) {
  return std::make_unique<WorkerRunner>(workload, target, worker_target, options);
}

}  // namespace tunesmith
