#include "measure/worker_task.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "measure/float_mode_watch.h"
#include "measure/time_kernel.h"
#include "measure/worker_faults.h"
#include "plugin/guard.h"
#include "target/guarded_kernel.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/error.h"

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
  guard_plugin(PluginKind::Target, target_id_, "open_device", [&] { target_->open_device(); });
  // Whatever the initialisers of plugins have set: a program is verified in the mode in which programs start.
  tunesmith_runtime_set_float_mode(tunesmith_runtime_default_float_mode());
  pool_.reset(tunesmith_runtime_pool_create(request.threads));
  probe_ = std::make_unique<DisturbanceProbe>(pool_.get());

  // Guard pages first: who reads beyond a buffer is told so, and not that the result is wrong.
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
  DrawnData drawn = tunesmith::choose_data(question, runner_of(reference, *loaded));
  require_no_fault(*loaded);
  Fill& fill = fills_.emplace_back(drawn.fill);
  set_inputs(data, drawn.inputs);
  if (fill.draws > 1 && take_draws(data, fill, draw_all(question, fill, runner_of(reference, *loaded))))
    return;
  fill.draws = 1;
  data.draws.push_back({{}, std::move(drawn.expected)});
}

bool WorkerTask::take_draws(DataSet& data, Fill& fill, std::vector<DrawnData> draws) {
  if (draws.empty()) return false;
  fill = draws.front().fill;
  data.draws.clear();
  for (DrawnData& draw : draws) data.draws.push_back({std::move(draw.inputs), std::move(draw.expected)});
  // A candidate's last results are held against those of the calls that are timed.
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

GuardedBuffer* WorkerTask::workspace(int64_t bytes, std::unique_ptr<GuardedBuffer>& into) {
  if (bytes == 0) return nullptr;
  // Its end lies at the guard page for each kernel, so each gets one of its own size.
  if (!into || into->bytes() != bytes) {
    if (into) unwatch(*into);
    into.reset();
    into = std::make_unique<GuardedBuffer>(bytes, 64);
    watch_for_faults(*into);
  }
  return into.get();
}

std::vector<Verdict> WorkerTask::verify(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                        bool at_once) {
  GuardedBuffer* const space = workspace(kernel.workspace_bytes);
  std::vector<Verdict> verdicts;
  if (!at_once) {
    for (DataSet& data : sets_) {
      verdicts.push_back(verify_candidate(loaded, kernel, data, space, pool_.get()));
      if (verdicts.back().failure) break;
    }
    return verdicts;
  }
  verdicts.resize(sets_.size());
  const std::array<GuardedBuffer*, 2> spaces{space, workspace(kernel.workspace_bytes, second_workspace_)};
  check_invariant(sets_.size() == spaces.size(), "there is a workspace for each data set");
  std::array<std::exception_ptr, 2> thrown;  // by the target: nothing may leave a thread of the pool
  const auto one = [&](size_t set) {
    try {
      verdicts[set] = verify_candidate(loaded, kernel, sets_[set], spaces[set], nullptr);
    } catch (...) {  // it is rethrown
      thrown[set] = std::current_exception();
    }
  };
  tunesmith_runtime_parallel_for(
      pool_.get(), static_cast<int64_t>(sets_.size()),
      [](void* closure, int64_t begin, int64_t end) {
        for (int64_t set = begin; set < end; ++set)
          (*static_cast<const decltype(one)*>(closure))(static_cast<size_t>(set));
      },
      const_cast<void*>(static_cast<const void*>(&one)));
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
  return verdicts;
}

KernelCall WorkerTask::timed_call(LoadedKernel& loaded, const CompiledKernel& kernel,
                                  const PreparedMemory* prepared, GuardedBuffer* workspace) const {
  return {loaded.entry(), timed_->kernel_pointers(kernel, prepared == nullptr ? nullptr : prepared->data()),
          workspace == nullptr ? nullptr : workspace->data(), pool_.get(), &loaded};
}

std::unique_ptr<PreparedMemory> WorkerTask::prepare(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                                    GuardedBuffer* workspace, double& seconds) const {
  if (!kernel.prepare) return nullptr;
  auto prepared = std::make_unique<PreparedMemory>(kernel.prepare->bytes, Placement::OnPage, kPoisonNaN);
  seconds = time_call({loaded.prepare(), timed_->prepare_pointers(*kernel.prepare, prepared->data()),
                       workspace == nullptr ? nullptr : workspace->data(), pool_.get()});
  prepared->protect();
  return prepared;
}

tl::expected<RunReply, FailureReply> WorkerTask::run(const RunRequest& request) {
  end_rounds();
  const CompiledKernel& kernel = request.kernel;
  const double limit = request.limit_seconds;
  FloatModeWatch float_mode(pool_.get());
  std::unique_ptr<LoadedKernel> loaded;
  try {
    loaded = load_guarded(*target_, target_id_, kernel);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
  }
  if (float_mode.take_change()) return failure(FailureCause::ProcessState, kFloatModeChanged);
  GuardedBuffer* space = nullptr;
  std::unique_ptr<PreparedMemory> prepared;
  double prepare_seconds = 0.0;
  double verified_call = 0.0;
  double worst = 0.0;
  try {
    space = workspace(kernel.workspace_bytes);
    probe_->begin();
    // What prepares may ask for memory, and be told that there is none: no exception leaves a thread.
    const bool at_once = !request.parallel && !kernel.prepare && kernel.workspace_bytes <= kLittleWorkspace;
    const std::vector<Verdict> verdicts = verify(*loaded, kernel, at_once);
    if (const auto fault = loaded->take_fault()) return failure_of(*fault);
    for (const Verdict& verdict : verdicts) {
      if (verdict.failure) return failure(verdict.failure->cause, verdict.failure->message);
      verified_call = verdict.seconds;
      worst = std::max(worst, verdict.worst);
    }
    if (const auto seconds = loaded->modelled_seconds()) return RunReply{{*seconds}, worst};
    if (space != nullptr) space->place(Placement::AtEnd);
    prepared = prepare(*loaded, kernel, space, prepare_seconds);
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    return no_memory(kernel, error);
  }
  const KernelCall call = timed_call(*loaded, kernel, prepared.get(), space);
  // What this process' clock saw of a device are copies for the most part.
  const std::optional<double> on_device = call.device_seconds(1);
  if (on_device) verified_call = *on_device;
  if (const auto fault = loaded->take_fault()) return failure_of(*fault);
  const auto answer = [&](const std::vector<double>& samples, const Reading& reading) {
    RunReply reply{samples, worst};
    // What disturbs this machine's cores does not touch a device's time.
    if (!on_device) reply.reading = reading;
    if (prepared) reply.prepare_seconds = prepare_seconds;
    return reply;
  };
  if (limit > 0.0 && verified_call > std::max(kShortCall, kFirstCall * sampling_.racing_factor * limit)) {
    // Hopeless: called once more it would only take longer.
    return answer({verified_call}, probe_->end());
  }

  const bool slow =
      limit > 0.0 && verified_call > std::max(kColdCallSeconds, kColdCall * sampling_.racing_factor * limit);
  if (slow) {
    timed_->take_outputs(sets_.back().memory);
  } else {
    timed_->poison_outputs(kPoisonNaN);
  }
  probe_->begin();
  const std::vector<double> samples =
      slow ? std::vector<double>{time_call(call)} : sample_kernel(call, sampling_, limit);
  const Reading reading = probe_->end();
  if (const auto fault = loaded->take_fault()) return failure_of(*fault);
  if (float_mode.take_change()) return failure(FailureCause::ProcessState, kFloatModeChanged);
  // Called again since, with nothing reset, on other memory: what accumulates, or varies, shows.
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Buffer& buffer = arguments_[i].buffer;
    if (arguments_[i].output && std::memcmp(sets_.back().memory.output(i), timed_->output(i),
                                            static_cast<size_t>(buffer->bytes())) != 0) {
      return failure(FailureCause::WrongResult, fmt::format("{} differs from run to run", buffer->name));
    }
  }
  return answer(samples, reading);
}

tl::expected<AddToRoundsReply, FailureReply> WorkerTask::add_to_rounds(const AddToRoundsRequest& request) {
  if (request.begin) end_rounds();
  const CompiledKernel& kernel = request.kernel;
  Loaded loaded;
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
  loaded_.push_back(std::move(loaded));
  rounds_.push_back(std::move(entry));
  return AddToRoundsReply{rounds_.back().warm};
}

tl::expected<TimeInTurnReply, FailureReply> WorkerTask::time_in_turn(const TimeInTurnRequest& request) {
  probe_->begin();
  TimeInTurnReply reply;
  reply.samples = time_rounds(rounds_, request.rounds);
  for (const Loaded& loaded : loaded_) {
    if (const auto fault = loaded.kernel->take_fault()) return failure_of(*fault);
  }
  reply.reading = probe_->end();
  return reply;
}

void WorkerTask::end_rounds() {
  rounds_.clear();
  loaded_.clear();
}

}  // namespace tunesmith
