#include <algorithm>

#include <fmt/format.h>

#include "measure/data_sets.h"
#include "measure/disturbance.h"
#include "measure/interleave.h"
#include "measure/message_parts.h"
#include "measure/reference.h"
#include "measure/worker_process.h"
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
constexpr double kTaskTimeOut = 300.0;  // the reference is computed plainly, once
constexpr int kStartAttempts = 3;

tl::unexpected<CandidateFailure> failed(const json& header) {
  return tl::make_unexpected(
      CandidateFailure{*parse_failure_cause(header.at("failure").get<std::string>()), header.at("message")});
}

class WorkerRunner final : public Runner {
 public:
  WorkerRunner(const Workload& workload, Target& target, const WorkerTarget& worker_target,
               const MeasureOptions& options)
      : options_(options), models_times_(target.models_times()) {
    const LongestReduction longest = longest_reduction(workload.program);
    json references = json::array();
    for (const DataKind data : kDataKinds) {
      const LoweredProgram reference =
          lower_for(target, in_fast_order(reference_program(workload.program, data)));
      const auto compiled = target.compile(reference, "tunesmith_reference");
      if (!compiled)
        throw EnvironmentError(
            fmt::format("the reference of {} does not compile: {}", workload.key, compiled.error()));
      json header = kernel_header(*compiled);
      header["has_bound"] = has_bound(workload.program, data);
      references.push_back(header);
      task_.attachments.push_back(compiled->object);
    }

    json buffers = json::array();
    const auto add = [&](const Buffer& buffer, bool output) {
      buffers.push_back({{"name", buffer->name},
                         {"dtype", buffer->dtype.str()},
                         {"shape", buffer->shape},
                         {"output", output}});
    };
    for (const Buffer& input : workload.program.inputs) add(input, false);
    for (const Buffer& output : workload.program.outputs) add(output, true);
    task_.header = {{"type", "task"},
                    {"target", worker_target.id},
                    {"options", options_json(worker_target.options)},
                    {"plugin_paths", worker_target.plugin_paths},
                    {"lock_file", worker_target.lock_file},
                    {"threads", options.threads},
                    {"data_seed", options.data_seed},
                    {"most_terms", longest.terms},
                    {"elements", longest.elements},
                    {"min_repeats", options.min_repeats},
                    {"max_repeats", options.max_repeats},
                    {"min_total_seconds", options.min_total_seconds},
                    {"racing_factor", options.racing_factor},
                    {"memory_limit_bytes", options.memory_limit_bytes},
                    {"buffers", buffers},
                    {"references", references}};
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
    Rounds rounds(*this, kernels);
    return tunesmith::interleave(rounds, kernels.size(), options);
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  MachineLock::Turn take_turn() const {
    return options_.machine ? options_.machine->wait(MachineLock::Use::Measure, options_.stop)
                            : MachineLock::Turn();
  }

  MeasureResult run_fairly(const MeasureRequest& request) {
    const bool alone = !worker_;  // the first that this worker runs
    MeasureResult result = run_one(request);
    if (!result.failure || stopped() || !may_be_anothers(result.failure->cause, alone)) return result;
    worker_.reset();
    return run_one(request);
  }

  /// What a candidate did to its worker (corrupted memory, or took it) may show in one that comes after it,
  /// and a worker may be ended by somebody else. A fresh worker tells.
  static bool may_be_anothers(FailureCause cause, bool alone) {
    if (cause == FailureCause::WorkerLost) return true;
    return !alone && (cause == FailureCause::Crash || cause == FailureCause::OutOfMemory ||
                      cause == FailureCause::IllegalInstruction);
  }

  MeasureResult run_one(const MeasureRequest& request) {
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
    const WorkerProcess::Reply reply = ask(question, time_out);
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
      const WorkerProcess::Reply reply = runner_.ask(question, kPatience * runner_.options_.time_out_seconds);
      if (!reply.message) return tl::make_unexpected(reply.failure);
      const json& header = reply.message->header;
      if (header.contains("failure")) return failed(header);
      return header.at("seconds").get<double>();
    }

    bool alive() const override { return runner_.worker_ != nullptr; }

    tl::expected<Samples, CandidateFailure> time(int rounds, double expected_seconds) override {
      const MachineLock::Turn turn = runner_.take_turn();
      Message question;
      question.header = {{"type", "time_in_turn"}, {"rounds", rounds}};
      const WorkerProcess::Reply reply = runner_.ask(question, kStallSeconds + kPatience * expected_seconds);
      if (!reply.message) return tl::make_unexpected(reply.failure);
      const json& header = reply.message->header;
      return Samples{header.at("samples"), runner_.judge_.disturbed(reading_from(header))};
    }

   private:
    WorkerRunner& runner_;
    std::span<const CompiledKernel* const> kernels_;
    int64_t workspace_ = 0;  // that all share
  };

  WorkerProcess::Reply ask(const Message& question, double time_out) {
    WorkerProcess::Reply reply;
    reply.failure = {FailureCause::WorkerLost, "stopped by the user"};
    if (stopped() || (!worker_ && !start())) return reply;
    reply = worker_->ask(question, time_out, options_.stop);
    if (reply.message && reply.message->header.contains("error")) {
      throw EnvironmentError("the worker: " + reply.message->header.at("error").get<std::string>());
    }
    if (!reply.message) worker_.reset();
    return reply;
  }

  /// False when a person stops it: a reference may take long.
  bool start() {
    WorkerProcess::Reply reply;
    for (int attempt = 0; attempt < kStartAttempts && !reply.message; ++attempt) {
      worker_ = std::make_unique<WorkerProcess>();
      reply = worker_->ask(task_, kTaskTimeOut, options_.stop);
      if (reply.message) break;
      worker_.reset();
      if (stopped()) return false;
      if (reply.failure.cause != FailureCause::WorkerLost) break;  // else somebody killed it
    }
    if (!reply.message) {
      throw EnvironmentError(fmt::format("the worker did not take the task: {}: {}",
                                         failure_cause_name(reply.failure.cause), reply.failure.message));
    }
    const json& answer = reply.message->header;
    if (answer.contains("user_error")) throw UserError(answer.at("user_error").get<std::string>());
    if (answer.contains("error")) {
      throw EnvironmentError("the worker: " + answer.at("error").get<std::string>());
    }
    // A worker that takes over gets the data and the results with the task.
    if (!task_.header.contains("fills")) {
      task_.header["fills"] = answer.at("fills");
      for (std::string& result : reply.message->attachments) task_.attachments.push_back(std::move(result));
    }
    return true;
  }

  MeasureOptions options_;
  bool models_times_;
  Message task_;
  std::unique_ptr<WorkerProcess> worker_;
  DisturbanceJudge judge_;  // outlives the workers
};

}  // namespace

Runner::~Runner() = default;

std::unique_ptr<Runner> make_worker_runner(const Workload& workload, Target& target,
                                           const WorkerTarget& worker_target, const MeasureOptions& options) {
  return std::make_unique<WorkerRunner>(workload, target, worker_target, options);
}

}  // namespace tunesmith
