#include "worker/worker_task.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/support/random.h"
#include "tunesmith/target/guarded_kernel.h"
#include "tunesmith/target/separate_device.h"
#include "worker/numbered_entries.h"
#include "worker/time_kernel.h"
#include "worker/timed_check.h"
#include "worker/verifying_pool.h"
#include "worker/worker_faults.h"

namespace tunesmith {
namespace {

/// How much slower than a later one a first call may be, for want of caches and pages.
constexpr double kFirstCall = 4.0;
/// A shorter call costs nothing to repeat, and only a repeated one shows what differs from run to run.
constexpr double kShortCall = 10e-3;
/// Two of them are no burden.
constexpr int64_t kLittleWorkspace = int64_t{64} << 20;
/// How much slower a first call of at least kColdCallSeconds may be: filling caches takes no longer.
constexpr double kColdCall = 2.0;
constexpr double kColdCallSeconds = 1e-3;

tl::unexpected<FailureReply> failure(FailureCause cause, const std::string& message) {
  return tl::make_unexpected(FailureReply{cause, message});
}

tl::unexpected<FailureReply> no_memory(const CompiledKernel& kernel, const EnvironmentError& error) {
  return failure(FailureCause::OutOfMemory,
                 fmt::format("a workspace of {} bytes and prepared memory of {}: {}", kernel.workspace_bytes,
                             kernel.prepare ? kernel.prepare->bytes : 0, error.what()));
}

FailureCause cause_of(const KernelFault& fault) {
  switch (fault.kind) {
    case KernelFault::Kind::Mistake:
      return FailureCause::WrongResult;
    case KernelFault::Kind::OutOfBounds:
      return FailureCause::OutOfBounds;
    case KernelFault::Kind::TimeOut:
      return FailureCause::TimeOut;
    case KernelFault::Kind::NotSetUp:
      return FailureCause::LoadError;
    case KernelFault::Kind::Crash:
      break;
  }
  return FailureCause::Crash;
}

tl::unexpected<FailureReply> failure_of(const KernelFault& fault) {
  return tl::make_unexpected(FailureReply{cause_of(fault), fault.message, fault.device_lost});
}

/// What calls of the reference do wrong on a device that watches is not a candidate's mistake.
void require_no_fault(LoadedKernel& reference) {
  if (const auto fault = reference.take_fault())
    throw EnvironmentError("the reference cannot be run: " + fault->message);
}

/// A changed process explains a wrong result, and spoils a right one.
bool may_come_of_the_process(const tl::expected<RunReply, FailureReply>& reply) {
  return reply || reply.error().cause == FailureCause::WrongResult ||
         reply.error().cause == FailureCause::OutOfBounds;
}

/// Those that its preparation reads must be what it has read.
std::vector<size_t> inputs_of_calls(const std::vector<Argument>& arguments, const CompiledKernel& kernel) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool prepared = kernel.prepare && std::ranges::count(kernel.prepare->reads, i) > 0;
    if (!arguments[i].output && !prepared) inputs.push_back(i);
  }
  return inputs;
}

/// After which sample a candidate's results are looked at, the same whenever it runs.
int look_position(const CompiledKernel& kernel, const SamplingOptions& sampling) {
  const int samples = std::max(sampling.max_repeats, 2);
  return 1 +
         static_cast<int>(RandomStream(hash_bytes(kernel.object)).below(static_cast<uint64_t>(samples - 1)));
}

}  // namespace

WorkerTask::WorkerTask(TaskRequest request)
    : target_id_(request.target), arguments_(std::move(request.arguments)), sampling_(request.sampling) {
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
  // Whatever the initialisers of plugins have set: a program is verified in the mode in which programs start.
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  pool_.reset(tunesmith_runtime_pool_create(request.threads));
  verifying_.reset(make_verifying_pool(tunesmith_runtime_pool_threads(pool_.get())));
  probe_ = std::make_unique<DisturbanceProbe>(pool_.get());

  // Guard pages first: an access beyond a buffer is reported as that, and not as a wrong result.
  sets_.emplace_back(arguments_, Placement::AtEnd, kPoisonLarge);
  sets_.emplace_back(arguments_, Placement::Unaligned, kPoisonNaN);
  timed_ = std::make_unique<ArgumentMemory>(arguments_, Placement::OnPage);
  size_t result = 0;
  bool every_term = false;
  const auto question_of = [&](size_t set) {
    return DataQuestion{
        kDataKinds[set],   arguments_,       request.references[set].has_bound,   request.most_terms,
        request.data_seed, request.elements, request.exponentiates_below_maximum, request.edges};
  };
  for (size_t set = 0; set < kDataKinds.size(); ++set) {
    const DataQuestion question = question_of(set);
    if (!request.fills.empty()) {
      take_data(request, question, set, result);
    } else {
      choose_data(request.references[set].kernel, sets_[set], question);
    }
    every_term = every_term || sees_every_term(question, fills_.back());
  }
  timed_->protect_inputs();
  foreign_threads_ = std::make_unique<ForeignThreads>();
  descriptors_ = numbered_entries("/proc/self/fd");
  static_assert(kDataKinds.front() == DataKind::Exact);
  if (!every_term && !draw_several_times(request.references.front().kernel, question_of(0))) {
    throw UserError(
        fmt::format(
            "sums of {} terms cannot be verified: rounding hides all but some {} of them in each of {} sums",
            request.most_terms, fills_.front().terms, request.elements),
        "compute sums in a wider type");
  }
}

void WorkerTask::set_inputs(DataSet& data, const std::vector<Tensor>& inputs) {
  data.memory.write_inputs(inputs);
  if (&data == &sets_.back()) timed_->write_inputs(inputs);
}

void WorkerTask::choose_data(const CompiledKernel& reference, DataSet& data, const DataQuestion& question) {
  const std::unique_ptr<LoadedKernel> loaded = load_guarded(*target_, target_id_, reference);
  const RunReference run = runner_of(reference, *loaded);
  DrawnData drawn = tunesmith::choose_data(question, run);
  require_no_fault(*loaded);
  Fill& fill = fills_.emplace_back(drawn.fill);
  set_inputs(data, drawn.inputs);
  if (fill.draws > 1 && take_draws(data, fill, draw_all(question, fill, run))) return;
  if (question.kind == DataKind::Exact && hides_a_term(question, drawn, run) &&
      take_draws(data, fill, choose_several_draws(question, run)))
    return;
  fill.draws = 1;
  data.draws.push_back({{}, std::move(drawn.expected)});
}

bool WorkerTask::take_draws(DataSet& data, Fill& fill, std::vector<DrawnData> draws) {
  if (draws.empty()) return false;
  fill = draws.front().fill;
  data.draws.clear();
  for (DrawnData& draw : draws) data.draws.push_back({std::move(draw.inputs), std::move(draw.expected)});
  // A candidate's last results are compared with those of the calls that are timed.
  set_inputs(data, data.draws.back().inputs);
  return true;
}

bool WorkerTask::draw_several_times(const CompiledKernel& reference, const DataQuestion& question) {
  const std::unique_ptr<LoadedKernel> loaded = load_guarded(*target_, target_id_, reference);
  std::vector<DrawnData> draws = choose_several_draws(question, runner_of(reference, *loaded));
  require_no_fault(*loaded);
  return take_draws(sets_.front(), fills_.front(), std::move(draws));
}

RunReference WorkerTask::runner_of(const CompiledKernel& reference, const LoadedKernel& loaded) {
  GuardedBuffer* const space = workspace(reference.workspace_bytes);
  return [this, &loaded, space](std::span<Tensor> tensors) {
    std::vector<void*> pointers;
    for (Tensor& tensor : tensors) pointers.push_back(tensor.bytes.data());
    time_call({loaded.entry(), pointers, space == nullptr ? nullptr : space->data(), pool_.get()});
  };
}

void WorkerTask::take_data(const TaskRequest& request, const DataQuestion& question, size_t set,
                           size_t& result) {
  const Fill& fill = request.fills[set];
  for (int64_t number = 0; number < fill.draws; ++number) {
    Draw& draw = sets_[set].draws.emplace_back();
    for (const Argument& argument : arguments_) {
      if (argument.output) draw.expected.emplace_back(argument.buffer, request.results[result++]);
    }
    if (fill.draws > 1) draw.inputs = draw_inputs(question, fill, number);
  }
  set_inputs(sets_[set], draw_inputs(question, fill, fill.draws - 1));
  fills_.push_back(fill);
}

ReadyReply WorkerTask::ready() const {
  ReadyReply ready{fills_, {}};
  for (const DataSet& data : sets_) {
    for (const Draw& draw : data.draws) {
      for (const ExpectedOutput& expected : draw.expected) ready.results.push_back(expected.bytes());
    }
  }
  return ready;
}

tl::expected<RunReply, FailureReply> WorkerTask::run(const RunRequest& request) {
  end_rounds();
  ProcessWatch process(pool_.get(), *foreign_threads_, descriptors_);
  tl::expected<RunReply, FailureReply> reply = run_candidate(request, process);
  const auto left = process.left_behind();
  if (left && may_come_of_the_process(reply)) return failure(FailureCause::ProcessState, *left);
  return reply;
}

tl::expected<RunReply, FailureReply> WorkerTask::run_candidate(const RunRequest& request,
                                                               ProcessWatch& process) {
  std::unique_ptr<LoadedKernel> loaded;
  try {
    loaded = load_guarded(*target_, target_id_, request.kernel);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
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
    verified.space = workspace(kernel.workspace_bytes);
    probe_->begin();
    // What prepares may ask for memory, and be told that there is none: no exception leaves a thread.
    // A device's kernels are called by one thread at a time.
    const bool by_several = target_->separate_device() == nullptr && !kernel.prepare &&
                            kernel.workspace_bytes <= kLittleWorkspace;
    const std::vector<Verdict> verdicts = verify(loaded, kernel, by_several && !request.parallel);
    if (const auto fault = loaded.take_fault()) return failure_of(*fault);
    for (const Verdict& verdict : verdicts) {
      if (verdict.failure) return failure(verdict.failure->cause, verdict.failure->message);
      verified.call_seconds = verdict.seconds;
      verified.worst_error = std::max(verified.worst_error, verdict.worst);
    }
    verified.modelled_seconds = loaded.modelled_seconds();
    if (verified.modelled_seconds) return verified;
    if (by_several && verified.call_seconds <= kShortCall) {
      process.first_calls_done();
      if (const auto wrong = wrong_at_once(loaded, kernel)) return failure(wrong->cause, wrong->message);
      if (const auto changed = process.changed_by_calls())
        return failure(FailureCause::ProcessState, *changed);
    }
    if (verified.space != nullptr) verified.space->place(Placement::AtEnd);
    verified.prepared = prepare(loaded, kernel, verified.space, verified.prepare_seconds);
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
  const KernelCall call = timed_call(loaded, kernel, verified.prepared.get(), verified.space);
  // What this process' clock saw of a device are copies for the most part.
  const std::optional<double> on_device = call.device_seconds(1);
  const double verified_call = on_device ? *on_device : verified.call_seconds;
  if (const auto fault = loaded.take_fault()) return failure_of(*fault);
  const auto answer = [&](const std::vector<double>& samples, const Reading& reading) {
    RunReply reply{samples, verified.worst_error};
    // What disturbs this machine's cores does not touch a device's time.
    if (!on_device) reply.reading = reading;
    if (verified.prepared) reply.prepare_seconds = verified.prepare_seconds;
    return reply;
  };
  if (limit > 0.0 && verified_call > std::max(kShortCall, kFirstCall * sampling_.racing_factor * limit)) {
    // Hopeless: called once more it would only take longer.
    return answer({verified_call}, probe_->end());
  }

  const bool slow =
      limit > 0.0 && verified_call > std::max(kColdCallSeconds, kColdCall * sampling_.racing_factor * limit);
  process.first_calls_done();
  const auto prepare_anew = [&] {
    if (verified.prepared)
      verified.prepare_seconds = prepare_into(*verified.prepared, loaded, *kernel.prepare, call.workspace);
  };
  TimedCheck check({*timed_, sets_.back().memory, sets_.front().memory}, call, prepare_anew,
                   *foreign_threads_);
  double first_call = 0.0;
  if (slow)
    check.begin_without_a_call();
  else
    first_call = check.first_call();
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
  // What cannot become the best is not worth more calls.
  if (!slow && (limit <= 0.0 || best <= kContender * limit)) {
    thoroughly = {inputs_of_calls(arguments_, kernel), on_device ? std::nullopt : std::optional(best),
                  hash_bytes(kernel.object)};
  }
  check.end(thoroughly);
  if (const auto fault = loaded.take_fault()) return failure_of(*fault);
  if (const auto changed = process.changed_by_calls()) return failure(FailureCause::ProcessState, *changed);
  if (const auto& wrong = check.failure()) return failure(wrong->cause, wrong->message);
  if (verified.space != nullptr && !verified.space->check_canary())
    return failure(FailureCause::OutOfBounds, "wrote outside of the workspace");
  return answer(samples, reading);
}

tl::expected<AddToRoundsReply, FailureReply> WorkerTask::add_to_rounds(const AddToRoundsRequest& request) {
  if (request.begin) end_rounds();
  const CompiledKernel& kernel = request.kernel;
  Loaded loaded;
  loaded.step = kernel.prepare;
  FloatModeWatch float_mode(pool_.get());
  loaded.computes = !request.yardstick;
  GuardedBuffer* space = nullptr;
  try {
    loaded.kernel = load_guarded(*target_, target_id_, kernel);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
  }
  try {
    space = workspace(request.shared_workspace_bytes);
    if (space != nullptr) space->place(Placement::AtEnd);
    double prepare_seconds = 0.0;
    hold(sets_.back());
    loaded.prepared = prepare(*loaded.kernel, kernel, space, prepare_seconds);
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    return no_memory(kernel, error);
  }
  InterleavedKernel entry;
  entry.call = timed_call(*loaded.kernel, kernel, loaded.prepared.get(), space);
  entry.modelled = loaded.kernel->modelled_seconds();
  entry.warm = entry.modelled ? *entry.modelled : time_call(entry.call);
  if (const auto fault = loaded.kernel->take_fault()) return failure_of(*fault);
  if (float_mode.take_change()) return failure(FailureCause::ProcessState, kFloatModeChanged);
  if (loaded.computes && !entry.modelled) {
    if (const auto wrong = wrong_in_rounds(sets_.back())) return failure(wrong->cause, wrong->message);
  }
  loaded_.push_back(std::move(loaded));
  rounds_.push_back(std::move(entry));
  return AddToRoundsReply{rounds_.back().warm};
}

tl::expected<TimeInTurnReply, FailureReply> WorkerTask::time_in_turn(const TimeInTurnRequest& request) {
  FloatModeWatch float_mode(pool_.get());
  probe_->begin();
  TimeInTurnReply reply;
  reply.samples = time_rounds(rounds_, request.rounds);
  for (const Loaded& loaded : loaded_) {
    if (const auto fault = loaded.kernel->take_fault()) return failure_of(*fault);
  }
  float_mode.take_change();  // whose it is check_rounds() finds out
  reply.reading = probe_->end();
  return reply;
}

tl::expected<CheckRoundsReply, FailureReply> WorkerTask::check_rounds() {
  CheckRoundsReply reply{wrong_after_rounds()};
  for (const Loaded& loaded : loaded_) {
    if (const auto fault = loaded.kernel->take_fault()) return failure_of(*fault);
  }
  end_rounds();
  return reply;
}

void WorkerTask::end_rounds() {
  rounds_.clear();
  loaded_.clear();
}

}  // namespace tunesmith
