#include "tunesmith/tuning/job_measurer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "has_parallel_loop.h"
#include "tunesmith/measure/verifier_version.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/tuning/called_places.h"
#include "tunesmith/tuning/candidate_compiler.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/tuning/with_names_of.h"

namespace tunesmith {
namespace {

constexpr const char* kJobSymbol = "tunesmith_job";

MeasureOptions measure_options_of(const JobOptions& job) {
  MeasureOptions options;
  options.time_out_seconds = job.time_out_seconds;
  options.memory_limit_bytes = job.memory_limit_bytes;
  options.min_repeats = job.min_repeats;
  options.max_repeats = job.max_repeats;
  options.min_total_seconds = job.min_total_seconds;
  return options;
}

/// Without a number, all threads that this process may use. Throws
/// UserError if a job needs more: its times would be useless.
int threads_of(const RecordedCandidate& candidate, int asked) {
  const auto available = static_cast<int>(available_processors());
  if (asked > 0) return asked;
  if (candidate.threads > available)
    throw UserError(
        fmt::format("it needs {} threads, but there are {} processors", candidate.threads, available),
        "set another number with --threads");
  return candidate.threads > 0 ? candidate.threads : available;
}

}  // namespace

/// A workload with its number of threads and other measuring options.
struct JobMeasurer::Task {
  RecordedWorkload recorded;
  JobOptions job_options;
  Workload workload;
  TaskKey key;
  CandidateCompiler compiler;
  std::unique_ptr<Runner> runner;  // since the first measurement
  std::optional<Workload> first;   // the workload under which the store knows the task, if different

  Task(const Job& job, const Space& space, int threads)
      : recorded(job.candidate.workload),
        job_options(job.options),
        workload(instantiate(recorded)),
        key(task_key(workload, space, threads)),
        compiler(workload, space) {}
};

JobMeasurer::JobMeasurer(const Space& space, WorkerTarget worker_target, RecordStore& store, Options options)
    : space_(space),
      worker_target_(std::move(worker_target)),
      store_(store),
      options_(std::move(options)),
      environment_(detect_environment(space.plugin_versions())) {}

JobMeasurer::~JobMeasurer() = default;

JobMeasurer::Task& JobMeasurer::task_for(const Job& job, int threads) {
  if (task_ && task_->recorded == job.candidate.workload && task_->key.threads == threads &&
      task_->job_options == job.options)
    return *task_;
  task_.reset();  // ends its worker
  auto task = std::make_unique<Task>(job, space_, threads);
  // All traces of a task use the names of the workload that was stored first.
  const std::optional<RecordedWorkload> first = store_.workload(task->workload.hash);
  store_.add_workload(task->recorded);
  if (first && *first != task->recorded) {
    if (auto sound = sound_workload(*first)) task->first = std::move(*sound);
  }
  task_ = std::move(task);
  return *task_;
}

std::optional<Record> JobMeasurer::known(const Task& task, const Job& job) const {
  if (options_.fresh) return std::nullopt;
  const RecordFilter filter{
      .task = task.key, .environment = environment_.hash(), .lowered_hash = job.candidate.lowered_hash};
  std::optional<Record> last;
  store_.for_each(filter, [&](const Record& record) {
    const bool slow = record.timing && job.limit_seconds > 0.0 &&
                      record.timing->min > MeasureOptions().racing_factor * job.limit_seconds;
    const bool timed = record.timing && record.verifier.value_or(0) >= kVerifierVersion &&
                       (record.modelled() || slow ||
                        std::cmp_greater_equal(record.timing->samples.size(), job.options.min_repeats));
    if (timed || (record.failure && !record.transient())) last = record;
  });
  return last;
}

const RecordedRun& JobMeasurer::run_record(int threads) {
  if (run_) return *run_;
  RecordedRun run;
  run.id = make_id();
  run.command = options_.command;
  run.space = space_.spec().name;
  run.rules_hash = space_.rules_hash();
  run.environment = environment_.hash();
  run.threads = threads;
  run.code_generator = space_.target().fingerprint();
  run.began_ms = now_ms();
  store_.add_environment(environment_);
  store_.add_space({run.space, run.rules_hash, space_.rules()});
  store_.add_run(run);
  run_ = std::move(run);
  return *run_;
}

Runner& JobMeasurer::runner_of(Task& task) {
  if (task.runner) return *task.runner;
  if (options_.admit) options_.admit(task.workload);
  MeasureOptions options = measure_options_of(task.job_options);
  options.threads = task.key.threads;
  options.machine = options_.machine;
  options.stop = options_.stop;
  task.runner = make_worker_runner(task.workload, space_.target(), worker_target_, options);
  return *task.runner;
}

std::optional<Record> JobMeasurer::run(Task& task, const Candidate& candidate, double limit_seconds) {
  MeasureResult answer;
  const auto code = task.compiler.compile(candidate, kJobSymbol);
  if (code) {
    const MeasureRequest request{&code->kernel, limit_seconds, has_parallel_loop(candidate.lowered.program),
                                 code->instance.get()};
    answer = std::move(runner_of(task).run({&request, 1}).front());
  } else {
    answer.failure = CandidateFailure{FailureCause::CompileError, code.error()};
  }
  if (answer.failure && options_.stop != nullptr && *options_.stop)
    return std::nullopt;  // it may be the cause
  if (answer.failure)
    answer.failure->message =
        with_called_places(std::move(answer.failure->message), candidate.lowered.program);

  const RecordedRun& run = run_record(task.key.threads);
  Record record;
  record.id = make_id();
  record.workload = task.first ? task.first->key : task.workload.key;
  record.workload_hash = task.key.workload_hash;
  record.target = task.key.target;
  record.threads = task.key.threads;
  record.device = task.key.device;
  record.run = run.id;
  record.environment = run.environment;
  record.space = run.space;
  record.rules_hash = run.rules_hash;
  const auto renamed = task.first ? with_names_of(task.first->program, task.workload.program, candidate.trace,
                                                  space_.intrinsics())
                                  : candidate.trace;
  check_invariant(renamed.has_value(), "a trace replays on an equal program");
  record.trace = renamed->str();
  record.trace_version = kTraceVersion;
  record.lowered_hash = candidate.lowered_hash;
  record.candidate = measured_++;
  record.verifier = kVerifierVersion;
  record.timing = answer.timing;
  if (answer.timing) {
    record.seconds = answer.timing->min;
    record.verified_error = answer.verified_error;
  }
  if (code && code->instance) record.verified_on = code->instance->key;
  record.disturbed = answer.disturbed;
  if (answer.timing && options_.drifted && options_.drifted()) record.disturbed = true;
  record.failure = answer.failure;
  record.time_ms = now_ms();
  store_.add(record);
  return record;
}

JobResult JobMeasurer::measure(const Job& job) {
  JobResult result;
  const CandidateCheck check = check_candidate(job.candidate, space_);
  result.differences = check.differences;
  result.refusal = check.refusal;
  if (!check.same()) return result;
  try {
    Task& task = task_for(job, threads_of(job.candidate, options_.threads));
    result.record = known(task, job);
    result.known = result.record.has_value();
    if (!result.record) result.record = run(task, *check.candidate, job.limit_seconds);
  } catch (const UserError& error) {
    result.refusal = error.what();
  }
  return result;
}

tl::expected<std::vector<InterleavedTimes>, std::string> JobMeasurer::time_in_turn(const Turns& turns) {
  std::vector<CandidatePtr> candidates;
  for (const RecordedCandidate& one : turns.candidates) {
    CandidateCheck check = check_candidate(one, space_);
    if (!check.same()) return tl::make_unexpected(std::move(check.refusal));
    candidates.push_back(std::move(check.candidate));
  }
  try {
    const RecordedCandidate& first = turns.candidates.front();
    return time_in_turn(task_for({first, turns.options}, threads_of(first, options_.threads)), candidates,
                        turns);
  } catch (const UserError& error) {
    return tl::make_unexpected(std::string(error.what()));
  }
}

std::vector<InterleavedTimes> JobMeasurer::time_in_turn(Task& task,
                                                        const std::vector<CandidatePtr>& candidates,
                                                        const Turns& turns) {
  std::vector<InterleavedTimes> times(candidates.size() + (turns.peak ? 1 : 0));
  std::vector<CandidateKernel> codes(candidates.size());
  std::vector<const CompiledKernel*> kernels;
  std::vector<size_t> places;
  for (size_t i = 0; i < candidates.size(); ++i) {
    auto code = task.compiler.compile(*candidates[i], kJobSymbol);
    if (!code) {
      times[i].failure = CandidateFailure{FailureCause::CompileError, code.error()};
      continue;
    }
    codes[i] = *std::move(code);
    kernels.push_back(&codes[i].kernel);
    places.push_back(i);
  }
  InterleaveOptions options{turns.rounds, turns.budget_seconds, turns.min_rounds};
  std::optional<PeakKernel> peak;
  if (turns.peak) {
    peak = peak_kernel(space_, task.workload.program, task.key.threads);
    options.yardstick = &peak->kernel;
    kernels.push_back(&peak->kernel);
    places.push_back(candidates.size());
  }
  std::vector<InterleavedTimes> timed = runner_of(task).interleave(kernels, options);
  for (size_t i = 0; i < places.size(); ++i) {
    times[places[i]] = std::move(timed[i]);
    if (times[places[i]].samples.empty() && !times[places[i]].failure)
      times[places[i]].failure = CandidateFailure{FailureCause::WorkerLost, "stopped"};
  }
  return times;
}

void JobMeasurer::end(std::string_view because) {
  if (run_) store_.end_run(run_->id, now_ms(), because);
}

}  // namespace tunesmith
