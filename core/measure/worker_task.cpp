#include "measure/worker_task.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "measure/time_kernel.h"
#include "measure/worker_faults.h"
#include "plugin/guard.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using nlohmann::json;

/// How much slower than a later one a first call may be, for want of caches and pages.
constexpr double kFirstCall = 4.0;
/// A shorter call costs nothing to repeat, and only a repeated one shows what differs from run to run.
constexpr double kShortCall = 10e-3;

std::vector<RawOption> options_from(const json& list) {
  std::vector<RawOption> options;
  for (const json& entry : list) {
    RawOption option;
    option.name = entry.at("name");
    option.shape = static_cast<RawOption::Shape>(entry.at("shape").get<int>());
    for (const json& value : entry.at("values")) {
      RawScalar scalar;
      scalar.text = value.at("text");
      scalar.quoted = value.at("quoted");
      option.values.push_back(std::move(scalar));
    }
    options.push_back(std::move(option));
  }
  return options;
}

json to_json(const Fill& fill) {
  return {{"largest", fill.largest},       {"positive", fill.positive}, {"terms", fill.terms},
          {"background", fill.background}, {"noise", fill.noise},       {"all_sparse", fill.all_sparse}};
}

Fill fill_from(DataKind kind, const json& fill) {
  return {kind,
          fill.at("largest"),
          fill.at("positive"),
          fill.at("terms"),
          fill.at("background"),
          fill.at("noise"),
          fill.at("all_sparse")};
}

json failure(FailureCause cause, const std::string& message) {
  return {{"failure", failure_cause_name(cause)}, {"message", message}};
}

json reading_json(const Reading& reading) {
  return {{"calibration", reading.calibration}, {"waited", reading.waited}};
}

}  // namespace

CompiledKernel kernel_from(const json& header, const std::string& object) {
  CompiledKernel kernel;
  kernel.object = object;
  kernel.symbol = header.at("symbol");
  kernel.workspace_bytes = header.at("workspace_bytes");
  if (header.contains("prepare")) {
    const json& step = header.at("prepare");
    kernel.prepare = PrepareStep{step.at("symbol"), step.at("bytes"), step.at("reads"), step.at("unread")};
  }
  return kernel;
}

WorkerTask::WorkerTask(const Message& message) {
  const json& header = message.header;
  sampling_ = {header.at("min_repeats"), header.at("max_repeats"), header.at("min_total_seconds"),
               header.at("racing_factor")};

  PluginSearch search;
  for (const json& path : header.at("plugin_paths"))
    search.command_line.push_back({path.get<std::string>(), {}});
  if (const std::string lock = header.at("lock_file"); !lock.empty()) search.lock_file = lock;
  registry_ = std::make_unique<PluginRegistry>(search);
  const std::string id = target_id_ = header.at("target");
  const std::vector<OptionSpec>& specs = registry_->option_specs(PluginKind::Target, id);
  target_ = registry_->create<Target>(
      id, Options::validate(specs, options_from(header.at("options")), plugin_name(PluginKind::Target, id)));
  pool_.reset(tunesmith_runtime_pool_create(header.at("threads")));
  probe_ = std::make_unique<DisturbanceProbe>(pool_.get());

  for (const json& entry : header.at("buffers")) {
    const DType dtype = *DType::parse(entry.at("dtype").get<std::string>());
    arguments_.push_back({make_buffer(entry.at("name"), dtype, entry.at("shape").get<std::vector<int64_t>>()),
                          entry.at("output")});
  }
  // Guard pages first: who reads beyond a buffer is told so, and not that the result is wrong.
  sets_.emplace_back(arguments_, Placement::AtEnd, kPoisonLarge);
  sets_.emplace_back(arguments_, Placement::Unaligned, kPoisonNaN);
  timed_ = std::make_unique<ArgumentMemory>(arguments_, Placement::OnPage);
  size_t results = kDataKinds.size();  // attachments before them are the references
  bool every_term = false;
  for (size_t set = 0; set < kDataKinds.size(); ++set) {
    const json& reference = header.at("references").at(set);
    const DataQuestion question{kDataKinds[set],           arguments_,
                                reference.at("has_bound"), header.at("most_terms"),
                                header.at("data_seed"),    header.at("elements")};
    if (header.contains("fills")) {
      take_data(message, question, set, results);
    } else {
      choose_data(kernel_from(reference, message.attachments.at(set)), sets_[set], question);
    }
    every_term = every_term || sees_every_term(question, fills_.back());
  }
  timed_->protect_inputs();
  if (!every_term) {
    throw UserError(
        fmt::format(
            "sums of {} terms cannot be verified: rounding hides all but some {} of them in each of {} sums",
            header.at("most_terms").get<int64_t>(), fills_.front().terms,
            header.at("elements").get<int64_t>()),
        "compute sums in a wider type");
  }
}

void WorkerTask::set_inputs(DataSet& data, const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    data.memory.write_input(i, inputs[i]);
    if (&data == &sets_.back()) timed_->write_input(i, inputs[i]);
  }
  data.memory.protect_inputs();
}

void WorkerTask::choose_data(const CompiledKernel& reference, DataSet& data, const DataQuestion& question) {
  const std::unique_ptr<LoadedKernel> loaded = target_->load(reference);
  GuardedBuffer* const space = workspace(reference.workspace_bytes);
  DrawnData drawn = tunesmith::choose_data(question, [&](std::span<Tensor> tensors) {
    std::vector<void*> pointers;
    for (Tensor& tensor : tensors) pointers.push_back(tensor.bytes.data());
    time_call({loaded->entry(), pointers, space == nullptr ? nullptr : space->data(), pool_.get()});
  });
  data.expected = std::move(drawn.expected);
  fills_.push_back(drawn.fill);
  set_inputs(data, drawn.inputs);
}

void WorkerTask::take_data(const Message& message, const DataQuestion& question, size_t set,
                           size_t& attachment) {
  fills_.push_back(fill_from(question.kind, message.header.at("fills").at(set)));
  for (const Argument& argument : arguments_) {
    if (argument.output)
      sets_[set].expected.emplace_back(argument.buffer, message.attachments.at(attachment++));
  }
  set_inputs(sets_[set], draw_inputs(question, fills_.back()));
}

json WorkerTask::fills() const {
  json list = json::array();
  for (const Fill& fill : fills_) list.push_back(to_json(fill));
  return list;
}

std::vector<std::string> WorkerTask::reference_results() const {
  std::vector<std::string> results;
  for (const DataSet& data : sets_) {
    for (const ExpectedOutput& expected : data.expected) results.push_back(expected.bytes());
  }
  return results;
}

GuardedBuffer* WorkerTask::workspace(int64_t bytes) {
  if (bytes == 0) return nullptr;
  // Its end lies at the guard page for each kernel, so each gets one of its own size.
  if (!workspace_ || workspace_->bytes() != bytes) {
    if (workspace_) unwatch(*workspace_);
    workspace_.reset();
    workspace_ = std::make_unique<GuardedBuffer>(bytes, 64);
    watch_for_faults(*workspace_);
  }
  return workspace_.get();
}

KernelCall WorkerTask::timed_call(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                  const PreparedMemory* prepared, GuardedBuffer* workspace) const {
  return {loaded.entry(), timed_->kernel_pointers(kernel, prepared == nullptr ? nullptr : prepared->data()),
          workspace == nullptr ? nullptr : workspace->data(), pool_.get()};
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

json WorkerTask::run(const Message& message) {
  end_rounds();
  const CompiledKernel kernel = kernel_from(message.header, message.attachments.at(0));
  const double limit = message.header.at("limit_seconds");
  std::unique_ptr<LoadedKernel> loaded;
  try {
    loaded = guard_plugin(PluginKind::Target, target_id_, "load", [&] { return target_->load(kernel); });
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
  }
  GuardedBuffer* space = nullptr;
  std::unique_ptr<PreparedMemory> prepared;
  double prepare_seconds = 0.0;
  double verified_call = 0.0;
  double worst = 0.0;
  try {
    space = workspace(kernel.workspace_bytes);
    probe_->begin();
    for (DataSet& data : sets_) {
      const Verdict verdict = verify_candidate(*loaded, kernel, data, space, pool_.get());
      if (verdict.failure) return failure(verdict.failure->cause, verdict.failure->message);
      verified_call = verdict.seconds;
      worst = std::max(worst, verdict.worst);
    }
    if (space != nullptr) space->place(Placement::AtEnd);
    prepared = prepare(*loaded, kernel, space, prepare_seconds);
  } catch (const EnvironmentError& error) {
    return failure(
        FailureCause::OutOfMemory,
        fmt::format("a workspace of {} bytes and prepared memory of {}: {}", kernel.workspace_bytes,
                    kernel.prepare ? kernel.prepare->bytes : 0, error.what()));
  }
  const auto answer = [&](const std::vector<double>& samples, const Reading& reading) {
    json result{{"samples", samples}, {"reading", reading_json(reading)}, {"verified_error", worst}};
    if (prepared) result["prepare_seconds"] = prepare_seconds;
    return result;
  };
  if (limit > 0.0 && verified_call > std::max(kShortCall, kFirstCall * sampling_.racing_factor * limit)) {
    // Hopeless: called once more it would only take longer.
    return answer({verified_call}, probe_->end());
  }

  timed_->poison_outputs(kPoisonNaN);
  probe_->begin();
  const std::vector<double> samples =
      sample_kernel(timed_call(*loaded, kernel, prepared.get(), space), sampling_, limit);
  const Reading reading = probe_->end();
  // Called many times since, with nothing reset, on other memory: what accumulates, or varies, shows.
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Buffer& buffer = arguments_[i].buffer;
    if (arguments_[i].output && std::memcmp(sets_.back().memory.output(i), timed_->output(i),
                                            static_cast<size_t>(buffer->bytes())) != 0) {
      return failure(FailureCause::WrongResult, fmt::format("{} differs from run to run", buffer->name));
    }
  }
  return answer(samples, reading);
}

json WorkerTask::add_to_rounds(const Message& message) {
  if (message.header.at("begin").get<bool>()) end_rounds();
  const CompiledKernel kernel = kernel_from(message.header, message.attachments.at(0));
  Loaded loaded;
  GuardedBuffer* space = nullptr;
  try {
    loaded.kernel =
        guard_plugin(PluginKind::Target, target_id_, "load", [&] { return target_->load(kernel); });
    space = workspace(message.header.at("shared_workspace_bytes"));
    if (space != nullptr) space->place(Placement::AtEnd);
    double prepare_seconds = 0.0;
    loaded.prepared = prepare(*loaded.kernel, kernel, space, prepare_seconds);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
  }
  InterleavedKernel entry;
  entry.call = timed_call(*loaded.kernel, kernel, loaded.prepared.get(), space);
  entry.warm = time_call(entry.call);
  loaded_.push_back(std::move(loaded));
  rounds_.push_back(std::move(entry));
  return {{"seconds", rounds_.back().warm}};
}

json WorkerTask::time_in_turn(const Message& message) {
  probe_->begin();
  const std::vector<std::vector<double>> samples = time_rounds(rounds_, message.header.at("rounds"));
  return {{"samples", samples}, {"reading", reading_json(probe_->end())}};
}

void WorkerTask::end_rounds() {
  rounds_.clear();
  loaded_.clear();
}

}  // namespace tunesmith
