#include "measure/worker_task.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "measure/time_kernel.h"
#include "measure/verify_outputs.h"
#include "measure/worker_faults.h"
#include "plugin/guard.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

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
  data_seed_ = header.at("data_seed");
  error_unit_ = header.at("error_unit");
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
    Buffer buffer = make_buffer(entry.at("name"), dtype, entry.at("shape").get<std::vector<int64_t>>());
    GuardedBuffer guarded(buffer->bytes(), dtype.bytes());
    GuardedBuffer aligned(whole_pages(buffer->bytes()), 64);
    arguments_.push_back({buffer, entry.at("output"), std::move(guarded), std::move(aligned)});
    watch_for_faults(arguments_.back().guarded);
    watch_for_faults(arguments_.back().aligned);
  }
  const CompiledKernel reference = kernel_from(header.at("reference"), message.attachments.at(0));
  draw_inputs(false);
  if (message.attachments.size() > 1) {
    take_results({message.attachments.begin() + 1, message.attachments.end()});
  } else {
    run_reference(reference);
    if (!reference_is_finite()) {
      // A logarithm or a root of these inputs: positive ones let more than NaN be compared.
      draw_inputs(true);
      run_reference(reference);
    }
  }
  for (Argument& argument : arguments_) {
    if (argument.output) continue;
    argument.guarded.set_read_only(true);
    argument.aligned.set_read_only(true);
  }
}

void WorkerTask::draw_inputs(bool positive) {
  inputs_.clear();
  for (Argument& argument : arguments_) {
    if (argument.output) continue;
    Tensor data = Tensor::like(*argument.buffer);
    data.fill_random(hash_combine(data_seed_, inputs_.size()));
    if (positive && data.dtype.is_float()) {
      for (int64_t i = 0; i < data.elements(); ++i) data.set(i, std::abs(data.get(i)) + 0.05);
    }
    std::memcpy(argument.guarded.data(), data.bytes.data(), data.bytes.size());
    std::memcpy(argument.aligned.data(), data.bytes.data(), data.bytes.size());
    inputs_.push_back(std::move(data));
  }
}

void WorkerTask::run_reference(const CompiledKernel& kernel) {
  std::vector<Tensor> tensors;
  for (const Tensor& input : inputs_) {
    if (!input.dtype.is_float()) {
      tensors.push_back(input);
      continue;
    }
    Tensor wide = Tensor::zeros(kF64, input.shape);
    for (int64_t i = 0; i < input.elements(); ++i) wide.set(i, input.get(i));
    tensors.push_back(std::move(wide));
  }
  for (const Argument& argument : arguments_) {
    if (!argument.output) continue;
    const DType dtype = argument.buffer->dtype.is_float() ? kF64 : argument.buffer->dtype;
    tensors.push_back(Tensor::zeros(dtype, argument.buffer->shape));
  }
  for (const Argument& argument : arguments_) {
    if (argument.output) tensors.push_back(Tensor::zeros(kF64, argument.buffer->shape));
  }
  std::vector<void*> pointers;
  for (Tensor& tensor : tensors) pointers.push_back(tensor.bytes.data());
  const std::unique_ptr<LoadedKernel> loaded = target_->load(kernel);
  loaded->entry()(pointers.data(), workspace(kernel.workspace_bytes), tunesmith_runtime_parallel_for,
                  pool_.get());
  const size_t outputs = (tensors.size() - inputs_.size()) / 2;
  const auto first = tensors.begin() + static_cast<std::ptrdiff_t>(inputs_.size());
  const auto middle = first + static_cast<std::ptrdiff_t>(outputs);
  values_.assign(std::make_move_iterator(first), std::make_move_iterator(middle));
  magnitudes_.assign(std::make_move_iterator(middle), std::make_move_iterator(tensors.end()));
}

bool WorkerTask::reference_is_finite() const {
  return std::all_of(values_.begin(), values_.end(), [](const Tensor& value) {
    if (!value.dtype.is_float()) return true;
    const auto* first = reinterpret_cast<const double*>(value.bytes.data());
    return std::all_of(first, first + value.elements(),
                       [](double element) { return std::isfinite(element); });
  });
}

std::vector<std::string> WorkerTask::reference_results() const {
  std::vector<std::string> results;
  for (const std::vector<Tensor>* tensors : {&inputs_, &values_, &magnitudes_}) {
    for (const Tensor& tensor : *tensors) {
      results.emplace_back(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    }
  }
  return results;
}

void WorkerTask::take_results(const std::vector<std::string>& results) {
  size_t next = 0;
  const auto take = [&](Tensor& tensor) {
    const std::string& bytes = results.at(next++);
    check_invariant(bytes.size() == tensor.bytes.size(), "a reference result fits its buffer");
    std::memcpy(tensor.bytes.data(), bytes.data(), bytes.size());
  };
  size_t input = 0;
  for (Argument& argument : arguments_) {
    if (argument.output) continue;
    take(inputs_[input]);
    std::memcpy(argument.guarded.data(), inputs_[input].bytes.data(), inputs_[input].bytes.size());
    std::memcpy(argument.aligned.data(), inputs_[input].bytes.data(), inputs_[input].bytes.size());
    ++input;
  }
  for (const Argument& argument : arguments_) {
    if (!argument.output) continue;
    values_.push_back(Tensor::zeros(argument.buffer->dtype.is_float() ? kF64 : argument.buffer->dtype,
                                    argument.buffer->shape));
    take(values_.back());
  }
  for (const Argument& argument : arguments_) {
    if (!argument.output) continue;
    magnitudes_.push_back(Tensor::zeros(kF64, argument.buffer->shape));
    take(magnitudes_.back());
  }
}

void WorkerTask::fill_outputs() {
  for (Argument& argument : arguments_) {
    if (!argument.output) continue;
    // All ones is a NaN in every floating type; integers get a pattern that is no likely result.
    const int pattern = argument.buffer->dtype.is_float() ? 0xff : 0xa5;
    std::memset(argument.guarded.data(), pattern, static_cast<size_t>(argument.buffer->bytes()));
    std::memset(argument.aligned.data(), pattern, static_cast<size_t>(argument.buffer->bytes()));
    argument.guarded.fill_canary();
  }
}

std::byte* WorkerTask::workspace(int64_t bytes) {
  if (bytes == 0) return nullptr;
  // Its end lies at the guard page for each kernel, so each gets one of its own size.
  if (!workspace_ || workspace_->bytes() != bytes) {
    if (workspace_) unwatch(*workspace_);
    workspace_.reset();
    workspace_ = std::make_unique<GuardedBuffer>(bytes, 64);
    watch_for_faults(*workspace_);
  }
  workspace_->fill_canary();
  return workspace_->data();
}

WorkerTask::Pointers WorkerTask::kernel_pointers(const CompiledKernel& kernel, const PreparedMemory* prepared,
                                                 bool guarded) const {
  Pointers pointers;
  for (const Argument& argument : arguments_)
    pointers.push_back(guarded ? argument.guarded.data() : argument.aligned.data());
  if (prepared == nullptr) return pointers;
  for (const size_t position : kernel.prepare->unread) pointers[position] = nullptr;
  pointers.push_back(prepared->data(guarded));
  return pointers;
}

WorkerTask::Pointers WorkerTask::prepare_pointers(const PrepareStep& step, const PreparedMemory& prepared,
                                                  bool guarded) const {
  Pointers pointers(arguments_.size(), nullptr);
  for (const size_t position : step.reads) {
    const Argument& argument = arguments_.at(position);
    pointers[position] = guarded ? argument.guarded.data() : argument.aligned.data();
  }
  pointers.push_back(prepared.data(guarded));
  return pointers;
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
  std::byte* space = nullptr;
  try {
    space = workspace(kernel.workspace_bytes);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::OutOfMemory,
                   fmt::format("a workspace of {} bytes: {}", kernel.workspace_bytes, error.what()));
  }
  std::unique_ptr<PreparedMemory> prepared;
  double prepare_seconds = 0.0;
  if (kernel.prepare) {
    const PrepareStep& step = *kernel.prepare;
    try {
      prepared = std::make_unique<PreparedMemory>(step.bytes);
    } catch (const EnvironmentError& error) {
      return failure(FailureCause::OutOfMemory,
                     fmt::format("prepared memory of {} bytes: {}", step.bytes, error.what()));
    }
    time_call({loaded->prepare(), prepare_pointers(step, *prepared, true), space, pool_.get()});
    prepare_seconds =
        time_call({loaded->prepare(), prepare_pointers(step, *prepared, false), space, pool_.get()});
    if (!prepared->check_canary()) {
      return failure(FailureCause::OutOfBounds, "wrote before the beginning of the prepared memory");
    }
    prepared->protect();
  }
  const auto answer = [&](const std::vector<double>& samples, const Reading& reading, double error) {
    json result{{"samples", samples}, {"reading", reading_json(reading)}, {"verified_error", error}};
    if (prepared) result["prepare_seconds"] = prepare_seconds;
    return result;
  };
  fill_outputs();
  probe_->begin();
  const double verified_call =
      time_call({loaded->entry(), kernel_pointers(kernel, prepared.get(), true), space, pool_.get()});

  if (space != nullptr && !workspace_->check_canary()) {
    return failure(FailureCause::OutOfBounds, "wrote before the beginning of the workspace");
  }
  double worst = 0.0;
  size_t output = 0;
  for (const Argument& argument : arguments_) {
    if (!argument.output) continue;
    if (!argument.guarded.check_canary()) {
      return failure(FailureCause::OutOfBounds,
                     fmt::format("wrote before the beginning of {}", argument.buffer->name));
    }
    const Comparison comparison =
        compare_output(*argument.buffer, argument.guarded.data(), values_[output].bytes.data(),
                       reinterpret_cast<const double*>(magnitudes_[output].bytes.data()), error_unit_);
    if (comparison.worst > 1.0) return failure(FailureCause::WrongResult, comparison.message);
    worst = std::max(worst, comparison.worst);
    ++output;
  }

  if (limit > 0.0 && verified_call > std::max(kShortCall, kFirstCall * sampling_.racing_factor * limit)) {
    // Hopeless: called once more it would only take longer.
    return answer({verified_call}, probe_->end(), worst);
  }

  probe_->begin();
  const std::vector<double> samples =
      sample_kernel({loaded->entry(), kernel_pointers(kernel, prepared.get(), false), space, pool_.get()},
                    sampling_, limit);
  const Reading reading = probe_->end();
  for (const Argument& argument : arguments_) {
    const auto bytes = static_cast<size_t>(argument.buffer->bytes());
    if (argument.output && std::memcmp(argument.guarded.data(), argument.aligned.data(), bytes) != 0) {
      return failure(FailureCause::WrongResult,
                     fmt::format("{} differs from run to run", argument.buffer->name));
    }
  }
  return answer(samples, reading, worst);
}

json WorkerTask::add_to_rounds(const Message& message) {
  if (message.header.at("begin").get<bool>()) end_rounds();
  const CompiledKernel kernel = kernel_from(message.header, message.attachments.at(0));
  Loaded loaded;
  std::byte* space = nullptr;
  try {
    loaded.kernel =
        guard_plugin(PluginKind::Target, target_id_, "load", [&] { return target_->load(kernel); });
    space = workspace(message.header.at("shared_workspace_bytes"));
    if (kernel.prepare) loaded.prepared = std::make_unique<PreparedMemory>(kernel.prepare->bytes);
  } catch (const EnvironmentError& error) {
    return failure(FailureCause::LoadError, error.what());
  }
  if (const auto& step = kernel.prepare) {
    time_call(
        {loaded.kernel->prepare(), prepare_pointers(*step, *loaded.prepared, false), space, pool_.get()});
  }
  InterleavedKernel entry;
  entry.call = {loaded.kernel->entry(), kernel_pointers(kernel, loaded.prepared.get(), false), space,
                pool_.get()};
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
