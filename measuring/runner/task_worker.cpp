#include "runner/task_worker.h"

#include <future>
#include <utility>

#include <fmt/format.h>

#include "messages/failure.h"
#include "messages/hello.h"
#include "messages/task.h"
#include "tunesmith/support/error.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/trace/in_threads.h"
#include "tunesmith/verification/data_sets.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith {
namespace {

constexpr double kTaskTimeOut = 300.0;  // the reference is computed plainly, once
constexpr double kHelloTimeOut = 60.0;  // a process begins, on a machine however busy
constexpr int kStartAttempts = 3;
constexpr const char* kReferenceSymbol = "tunesmith_reference";
// For a reference computed by a device: enough elements
// for its threads, and steps that take the host seconds.
constexpr int64_t kManyElements = int64_t{1} << 14;
constexpr int64_t kMuchWork = int64_t{1} << 27;
// The reference runs a few times, once for each draw; a candidate runs at least as often.
constexpr double kReferenceRuns = 3.0;

using Compiled = tl::expected<CompiledKernel, std::string>;

/// If a device runs programs itself, a large reference runs on its threads: the
/// host would take minutes. The unexpected value says why not, and is no failure.
Compiled reference_on_device(Target& target, const Program& reference) {
  const LongestReduction longest = longest_reduction(reference);
  const bool large = longest.elements >= kManyElements && longest.elements * longest.terms >= kMuchWork;
  if (target.separate_device() == nullptr || models_times(target) || !large)
    return tl::make_unexpected("it is the host's");
  const std::optional<Schedule> schedule = in_threads(reference, target.execution());
  if (!schedule) return tl::make_unexpected("the device has no threads");
  try {
    return target.compile(lower_for(target, schedule->program()), kReferenceSymbol);
  } catch (const LowerError& error) {
    return tl::make_unexpected(error.what());
  }
}

/// Throws EnvironmentError if the worker has another message version.
void require_our_schema(int64_t schema) {
  if (schema == kSchemaVersion) return;
  throw EnvironmentError(
      fmt::format("tunesmith-worker has schema version {}, this tunesmith {}; install both from one build",
                  schema, kSchemaVersion));
}

/// Throws the error with which the worker ended.
tl::expected<ReadyReply, CandidateFailure> read_answer(Message answer,
                                                       const std::vector<Argument>& arguments) {
  if (type_of(answer) == "error") {
    const auto error = read_error_reply(answer);
    if (!error) return tl::make_unexpected(nonsensical_answer(error.error()));
    if (error->of_user) throw UserError(error->message);
    throw EnvironmentError("the worker: " + error->message);
  }
  tl::expected<ReadyReply, std::string> ready = read_ready_reply(std::move(answer), arguments);
  if (!ready) return tl::make_unexpected(nonsensical_answer(ready.error()));
  return *std::move(ready);
}

/// A worker that lost its device ends by itself; one that a candidate has changed must not run another.
bool is_lost(const FailureReply& failure) {
  return failure.device_lost || failure.cause == FailureCause::ProcessState;
}

}  // namespace

TaskWorker::TaskWorker(const Workload& workload, Target& target, const WorkerTarget& worker_target,
                       const MeasureOptions& options, std::vector<int64_t> parameters)
    : program_(workload.program.clone()),
      key_(workload.key),
      target_(target),
      worker_target_(worker_target),
      options_(options),
      may_be_slow_(twins_of(target) != nullptr),
      parameters_(std::move(parameters)) {}

void TaskWorker::prepare() {
  if (!task_.header.empty()) return;
  std::vector<std::future<Compiled>> compiled;
  for (const DataKind data : kDataKinds) {
    compiled.push_back(std::async(std::launch::async, [this, data] {
      const Program reference = reference_program(program_, data);
      if (Compiled on_device = reference_on_device(target_, reference)) return on_device;
      return compile_reference(target_, lower_for(target_, in_fast_order(reference)), kReferenceSymbol);
    }));
  }
  TaskRequest request;
  for (size_t i = 0; i < compiled.size(); ++i) {
    Compiled reference = compiled[i].get();
    if (!reference)
      throw EnvironmentError(
          fmt::format("the reference of {} does not compile: {}", key_, reference.error()));
    request.references.push_back({*std::move(reference), has_bound(program_, kDataKinds[i])});
  }

  for (const Buffer& input : program_.inputs) arguments_.push_back({input, false});
  for (const Buffer& output : program_.outputs) arguments_.push_back({output, true});
  const LongestReduction longest = longest_reduction(program_);
  request.target = worker_target_.id;
  request.options = worker_target_.options;
  request.plugin_paths = worker_target_.plugin_paths;
  request.lock_file = worker_target_.lock_file;
  request.threads = options_.threads;
  request.data_seed = options_.data_seed;
  request.most_terms = longest.terms;
  request.elements = longest.elements;
  request.exponentiates_below_maximum = exponentiates_below_maximum(program_);
  request.edges = edge_traits(program_);
  request.sampling = {options_.min_repeats, options_.max_repeats, options_.min_total_seconds,
                      options_.racing_factor};
  request.memory_limit_bytes = options_.memory_limit_bytes;
  request.arguments = arguments_;
  request.parameters = parameters_;
  task_ = to_message(request);
}

std::vector<std::string> TaskWorker::not_exercised() const {
  if (!has_data_) return {};
  return tunesmith::not_exercised(program_, edge_traits(program_), edges_);
}

tl::expected<Message, TaskWorker::Unanswered> TaskWorker::ask(const Message& question,
                                                              double time_out_seconds) {
  Unanswered none{{FailureCause::WorkerLost, "stopped by the user"}};
  if (stopped() || (!worker_ && !start(none.failure))) return tl::make_unexpected(none);
  WorkerProcess::Reply reply = worker_->ask(question, kPlainAnswer, time_out_seconds, options_.stop);
  if (!reply.message) {
    worker_.reset();
    return tl::make_unexpected(Unanswered{reply.failure, reply.disturbed});
  }
  const std::string type = type_of(*reply.message);
  if (type == "failure") {
    const auto failure = read_failure_reply(*reply.message);
    if (!failure || is_lost(*failure)) worker_.reset();
    return tl::make_unexpected(Unanswered{failure ? CandidateFailure{failure->cause, failure->message}
                                                  : nonsensical_answer(failure.error())});
  }
  if (type == "error") {
    worker_.reset();
    const auto error = read_error_reply(*reply.message);
    return tl::make_unexpected(
        Unanswered{error ? CandidateFailure{FailureCause::WorkerLost, "worker error: " + error->message}
                         : nonsensical_answer(error.error())});
  }
  return *std::move(reply.message);
}

WorkerProcess::Reply TaskWorker::begin(WorkerProcess& worker, double time_out_seconds) {
  WorkerProcess::Reply reply = worker.ask(to_message(Hello{}), kPlainAnswer, kHelloTimeOut, options_.stop);
  if (!reply.message) {
    // Another worker may start faster.
    if (reply.failure.cause == FailureCause::TimeOut) reply.failure.cause = FailureCause::WorkerLost;
    return reply;
  }
  const auto hello = read_hello(*reply.message);
  if (!hello) {
    reply.message.reset();
    reply.failure = nonsensical_answer(hello.error());
    return reply;
  }
  require_our_schema(hello->schema);
  return worker.ask(task_, ready_limits(arguments_), time_out_seconds, options_.stop);
}

bool TaskWorker::start(CandidateFailure& failure) {
  if (too_slow_) {
    failure = *too_slow_;
    return false;
  }
  prepare();
  const double time_out = may_be_slow_ ? kReferenceRuns * options_.time_out_seconds : kTaskTimeOut;
  tl::expected<ReadyReply, CandidateFailure> ready = tl::make_unexpected(failure);
  for (int attempt = 0; attempt < kStartAttempts && !ready; ++attempt) {
    auto worker = std::make_unique<WorkerProcess>();
    WorkerProcess::Reply reply = begin(*worker, time_out);
    ready = tl::make_unexpected(reply.failure);
    if (reply.message) ready = read_answer(*std::move(reply.message), arguments_);
    if (ready) worker_ = std::move(worker);
    if (ready) break;
    if (stopped()) return false;
    if (ready.error().cause != FailureCause::WorkerLost) break;  // else somebody killed it
  }
  if (!ready && may_be_slow_ && ready.error().cause == FailureCause::TimeOut) {
    too_slow_ = {
        FailureCause::TimeOut,
        fmt::format("the reference of {} took more than {} s, and the program has no reduced instance", key_,
                    time_out)};
    failure = *too_slow_;
    return false;
  }
  if (!ready) {
    throw EnvironmentError(fmt::format("the worker rejected the task: {}: {}",
                                       failure_cause_name(ready.error().cause), ready.error().message));
  }
  // A replacement worker gets data and results with the task.
  if (!has_data_) {
    static_assert(kDataKinds.back() == DataKind::Random);
    edges_ = ready->fills.back().edges;
    add_data(task_, *std::move(ready));
  }
  has_data_ = true;
  return true;
}

}  // namespace tunesmith
