#include "tunesmith/network/verify_in_place.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "joined.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/data_sets.h"
#include "tunesmith/verification/guarded_buffer.h"
#include "verify/step_reference.h"
#include "verify/tensor_values.h"

namespace tunesmith::network {

struct PlaceVerifier::State {
  /// Makes each reference on demand.
  const StepReference& reference(const Workload& workload, DataKind data) {
    const auto key = std::pair(workload.hash, data);
    const auto found = references.find(key);
    if (found != references.end()) return found->second;
    return references.emplace(key, StepReference(workload, data, target, pool.get(), max_interpreted))
        .first->second;
  }

  const Network& network;
  std::span<const NodeWorkload> regions;
  Target& target;
  int64_t max_interpreted;
  std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool;
  std::map<std::pair<uint64_t, DataKind>, StepReference> references = {};
};

namespace {

class Call {
 public:
  /// `reference` gives the reference of a workload for this kind of data.
  Call(const Network& network, std::span<const NodeWorkload> regions,
       std::function<const StepReference&(const Workload&, DataKind)> reference, RunnableNetwork& runnable)
      : network_(network),
        regions_(regions),
        reference_(std::move(reference)),
        runnable_(runnable),
        values_(network, regions) {}

  VerifiedCall run(std::span<const tunesmith::Tensor> inputs,
                   const std::function<void(int, const VerifiedStep&)>& after) {
    std::vector<GuardedBuffer> memory = memory_of(inputs);
    std::vector<void*> data;
    for (const GuardedBuffer& buffer : memory) data.push_back(buffer.data());
    runnable_.run(data, [&](int step, void* const* buffers) {
      if (step < 0) return;
      const size_t position = static_cast<size_t>(step);
      if (position >= call_.steps.size()) call_.steps.resize(position + 1);
      values_.begin_step(position);
      VerifiedStep& result = call_.steps.at(position);
      add_trip(result, verified(step, buffers));
      ++runs_;
      if (values_.end_step(position) && after) after(step, result);
    });
    if (runs_ != values_.runs())
      call_.faults.push_back(fmt::format("{} of {} steps were run", runs_, values_.runs()));
    check_arguments(data, memory);
    call_on_drawn(data, memory);
    return std::move(call_);
  }

 private:
  const std::string& name(TensorIndex tensor) const { return network_.tensor(tensor).name; }

  /// Memory for inputs and outputs that ends at guard pages.
  std::vector<GuardedBuffer> memory_of(std::span<const tunesmith::Tensor> inputs) {
    std::vector<GuardedBuffer> memory;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorIndex tensor = network_.inputs[i];
      check_invariant(inputs[i].bytes.size() == bytes_of(network_, tensor),
                      "inputs are of the network's types");
      memory.emplace_back(static_cast<int64_t>(inputs[i].bytes.size()), inputs[i].dtype.bytes());
      if (!inputs[i].bytes.empty())
        std::memcpy(memory.back().data(), inputs[i].bytes.data(), inputs[i].bytes.size());
      memory.back().set_read_only(true);
      values_.keep(tensor, memory.back().data(), "the caller");
    }
    for (const TensorIndex output : network_.outputs) {
      const Tensor& tensor = network_.tensor(output);
      memory.emplace_back(static_cast<int64_t>(bytes_of(network_, output)), tensor.dtype->bytes());
    }
    return memory;
  }

  /// Combines the trips of a step: the worst values, and the faults of the first trip that has any.
  void add_trip(VerifiedStep& all, VerifiedStep of_trip) const {
    all.name = of_trip.name;
    all.interpreted = of_trip.interpreted;
    all.any_values |= of_trip.any_values;
    all.elements += of_trip.elements;
    all.worst = std::max(all.worst, of_trip.worst);
    all.looseness = std::max(all.looseness, of_trip.looseness);
    if (!all.faults.empty()) return;
    all.faults = std::move(of_trip.faults);
    if (values_.trip() > 0)
      for (std::string& fault : all.faults) fault += fmt::format(", in trip {}", values_.trip() + 1);
  }

  VerifiedStep verified(int step, void* const* buffers) {
    const NodeWorkload& region = regions_[static_cast<size_t>(step)];
    VerifiedStep result;
    result.name = region.workload.name;
    for (size_t i = 0; i < region.inputs.size(); ++i) {
      if (!runnable_.reads(step, i)) continue;
      const std::string change = values_.change_of(region.inputs[i], buffers[i]);
      if (!change.empty()) result.faults.push_back("reads " + change);
    }
    if (result.faults.empty()) compare(region, buffers + region.inputs.size(), result);
    if (result.faults.empty() && !(result.looseness <= kLoosest) &&
        std::ranges::none_of(loose_, [&](const auto& run) { return run.second.step == step; }))
      remember(step, buffers);
    for (size_t i = 0; i < region.outputs.size(); ++i)
      values_.keep(region.outputs[i], buffers[region.inputs.size() + i],
                   fmt::format("step {} ({})", step, result.name));
    return result;
  }

  void compare(const NodeWorkload& region, void* const* outputs, VerifiedStep& result) const {
    std::vector<Bytes> inputs, results;
    for (const TensorIndex input : region.inputs) inputs.push_back(values_.of(input));
    for (size_t i = 0; i < region.outputs.size(); ++i)
      results.emplace_back(static_cast<const std::byte*>(outputs[i]), bytes_of(network_, region.outputs[i]));
    std::vector<ResultDifference> differences;
    for (const DataKind data : {DataKind::Random, DataKind::Any}) {
      const StepReference& reference = reference_(region.workload, data);
      result.interpreted = reference.interpreted();
      result.any_values = data == DataKind::Any;
      differences = reference.compare(inputs, results);
      if (std::ranges::all_of(differences, [](const ResultDifference& each) { return each.message.empty(); }))
        break;
    }
    for (size_t i = 0; i < differences.size(); ++i) {
      result.elements += region.workload.program.outputs[i]->elements();
      result.worst = std::max(result.worst, differences[i].worst);
      result.looseness = std::max(result.looseness, differences[i].looseness);
      if (!differences[i].message.empty())
        result.faults.push_back(wrong(region.outputs[i], differences[i].worst, differences[i].message));
    }
  }

  /// A step with too loose bounds, with its buffers and their contents.
  struct Loose {
    int step = 0;
    std::vector<void*> buffers;
    std::vector<tunesmith::Tensor> contents;  // of each buffer
    DrawnData drawn = {};
  };

  std::vector<Buffer> buffers_of(int step) const {
    const Program& program = regions_[static_cast<size_t>(step)].workload.program;
    std::vector<Buffer> buffers = program.inputs;
    buffers.insert(buffers.end(), program.outputs.begin(), program.outputs.end());
    return buffers;
  }

  void remember(int step, void* const* buffers) {
    Loose loose;
    loose.step = step;
    const std::vector<Buffer> all = buffers_of(step);
    for (size_t i = 0; i < all.size(); ++i) {
      loose.buffers.push_back(runnable_.reads(step, i) ? buffers[i] : nullptr);
      loose.contents.push_back(loose.buffers[i] == nullptr
                                   ? tunesmith::Tensor()
                                   : load_from(*all[i], static_cast<std::byte*>(buffers[i])));
    }
    loose_.emplace(runs_, std::move(loose));
  }

  /// The expected bytes of a constant, or of a trip's row of one; nothing for other tensors.
  Bytes fixed_of(const Loose& loose, size_t input) const {
    const auto& region = regions_[static_cast<size_t>(loose.step)];
    const Tensor& tensor = network_.tensor(region.inputs[input]);
    if (tensor.constant) return tensor.constant->bytes;
    const bool is_part = tensor.part && network_.tensor(tensor.part->whole).constant;
    return is_part ? Bytes(loose.contents[input].bytes) : Bytes();
  }

  /// Draws data for the step; false if that is impossible.
  bool draw(Loose& loose) {
    const NodeWorkload& region = regions_[static_cast<size_t>(loose.step)];
    std::vector<Bytes> constants;
    for (size_t i = 0; i < region.inputs.size(); ++i) constants.push_back(fixed_of(loose, i));
    std::string why;
    for (const DataKind data : {DataKind::Random, DataKind::Exact}) {
      try {
        loose.drawn = reference_(region.workload, data).draw(constants);
        return true;
      } catch (const UserError& error) {
        why = error.what();
      }
    }
    call_.steps[static_cast<size_t>(loose.step)].faults.push_back("is not verified: " + why);
    return false;
  }

  /// Gives the recorded steps drawn data in a second call, in which all other steps find their own data.
  void call_on_drawn(const std::vector<void*>& data, std::vector<GuardedBuffer>& memory) {
    for (auto entry = loose_.begin(); entry != loose_.end();)
      entry = draw(entry->second) ? std::next(entry) : loose_.erase(entry);
    if (loose_.empty()) return;
    for (size_t i = 0; i < network_.inputs.size(); ++i) memory[i].set_read_only(false);
    int64_t run = -1;
    runnable_.run(data, [&](int, void* const*) {
      if (const auto loose = loose_.find(run); loose != loose_.end()) compare_drawn(loose->second);
      if (const auto next = loose_.find(++run); next != loose_.end())
        give(next->second, next->second.drawn.inputs);
    });
  }

  /// Writes `contents` to the step's buffers that are not fixed.
  void give(const Loose& loose, std::span<const tunesmith::Tensor> contents) {
    const NodeWorkload& region = regions_[static_cast<size_t>(loose.step)];
    const std::vector<Buffer> all = buffers_of(loose.step);
    for (size_t i = 0; i < contents.size(); ++i) {
      const bool fixed = i < region.inputs.size() && fixed_of(loose, i).data() != nullptr;
      if (loose.buffers[i] != nullptr && !fixed)
        store_in(*all[i], contents[i], static_cast<std::byte*>(loose.buffers[i]));
    }
  }

  void compare_drawn(const Loose& loose) {
    const NodeWorkload& region = regions_[static_cast<size_t>(loose.step)];
    VerifiedStep& result = call_.steps[static_cast<size_t>(loose.step)];
    result.drawn = true;
    result.looseness = loose.drawn.looseness;
    for (size_t i = 0; i < region.outputs.size(); ++i) {
      const OutputDifference found = loose.drawn.expected[i].compare(loose.buffers[region.inputs.size() + i]);
      result.worst = std::max(result.worst, found.worst);
      if (!found.message.empty())
        result.faults.push_back(wrong(region.outputs[i], found.worst, found.message) + ", on generated data");
    }
    give(loose, loose.contents);
  }

  std::string wrong(TensorIndex output, double worst, const std::string& message) const {
    return fmt::format("computes '{}' wrong, by {:.3g} times the error bound: {}", name(output), worst,
                       message);
  }

  void check_arguments(const std::vector<void*>& data, const std::vector<GuardedBuffer>& memory) {
    const size_t inputs = network_.inputs.size();
    for (size_t i = 0; i < network_.outputs.size(); ++i) {
      if (!values_.knows(network_.outputs[i])) continue;  // the step that computes it was not run
      const std::string change = values_.change_of(network_.outputs[i], data[inputs + i]);
      if (!change.empty()) call_.faults.push_back("the result " + change);
      if (!memory[inputs + i].check_canary())
        call_.faults.push_back(
            fmt::format("memory beside the result '{}' was written", name(network_.outputs[i])));
    }
  }

  const Network& network_;
  const std::span<const NodeWorkload> regions_;
  const std::function<const StepReference&(const Workload&, DataKind)> reference_;
  RunnableNetwork& runnable_;
  TensorValues values_;
  int64_t runs_ = 0;                // number of steps run so far
  std::map<int64_t, Loose> loose_;  // by this number
  VerifiedCall call_;
};

}  // namespace

bool VerifiedCall::right() const {
  return faults.empty() &&
         std::ranges::all_of(steps, [](const VerifiedStep& step) { return step.faults.empty(); });
}

PlaceVerifier::PlaceVerifier(const Network& network, std::span<const NodeWorkload> regions, Target& target,
                             int64_t max_interpreted)
    : state_(new State{network,
                       regions,
                       target,
                       max_interpreted,
                       {tunesmith_runtime_pool_create(0), tunesmith_runtime_pool_destroy}}) {
  for (const NodeWorkload& region : regions) state_->reference(region.workload, DataKind::Random);
}

PlaceVerifier::~PlaceVerifier() = default;

VerifiedCall PlaceVerifier::verify(RunnableNetwork& runnable, std::span<const tunesmith::Tensor> inputs,
                                   const std::function<void(int, const VerifiedStep&)>& after) const {
  const auto steps = static_cast<int>(state_->regions.size());
  if (runnable.steps() != steps)
    throw UserError(fmt::format("the library has {} steps, the network {}", runnable.steps(), steps));
  for (int step = 0; step < steps; ++step) {
    const NodeWorkload& region = state_->regions[static_cast<size_t>(step)];
    const size_t buffers = region.inputs.size() + region.outputs.size(), found = runnable.buffers(step);
    if (runnable.step_name(step) != region.workload.name || (found != buffers && found != buffers + 1))
      throw UserError(fmt::format("step {} of the library is {} of {} buffers, of the network {} of {}", step,
                                  runnable.step_name(step), found, region.workload.name, buffers));
  }
  const auto reference = [this](const Workload& workload, DataKind data) -> const StepReference& {
    return state_->reference(workload, data);
  };
  return Call(state_->network, state_->regions, reference, runnable).run(inputs, after);
}

std::vector<tunesmith::Tensor> random_inputs(std::span<const LibraryArgument> inputs, uint64_t seed,
                                             int64_t integers) {
  std::vector<tunesmith::Tensor> drawn;
  for (const LibraryArgument& input : inputs) {
    const DType type = input.type.dtype;
    tunesmith::Tensor& tensor = drawn.emplace_back(tunesmith::Tensor::zeros(type, input.type.shape));
    tensor.fill_random(seed + drawn.size());
    if (type.is_float() || type.is_bool()) continue;
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set_int(i, std::abs(tensor.get_int(i) % integers));
  }
  return drawn;
}

}  // namespace tunesmith::network
