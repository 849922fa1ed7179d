#include "tunesmith/network/verify_in_place.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "joined.h"
#include "parts.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/data_sets.h"
#include "tunesmith/verification/guarded_buffer.h"
#include "verify/step_reference.h"

namespace tunesmith::network {
namespace {

using Bytes = std::span<const std::byte>;

size_t bytes_of(const Network& network, TensorIndex tensor) {
  const TensorType type = input_of(network.tensors[static_cast<size_t>(tensor)]).type;
  return static_cast<size_t>(element_count(type.shape) * type.dtype.bytes());
}

}  // namespace

struct PlaceVerifier::State {
  /// Made when it is first asked for.
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

/// One call: what each tensor was when it was computed, for those that are still to be read.
class Call {
 public:
  /// `reference`: of a workload on such data.
  Call(const Network& network, std::span<const NodeWorkload> regions,
       std::function<const StepReference&(const Workload&, DataKind)> reference, RunnableNetwork& runnable)
      : network_(network), regions_(regions), reference_(std::move(reference)), runnable_(runnable) {
    for (const TensorIndex output : network.outputs) ++readers_[output];
    for (const NodeWorkload& region : regions)
      for (const TensorIndex input : region.inputs) ++readers_[input];
    for (size_t node = 0; node < network.nodes.size(); ++node) {
      if (!is_in_place(network, node)) continue;
      in_place_.push_back(pieces_of(network, node));
      for (const Piece& piece : in_place_.back()) ++readers_[piece.from];
    }
  }

  VerifiedCall run(std::span<const tunesmith::Tensor> inputs,
                   const std::function<void(int, const VerifiedStep&)>& after) {
    std::vector<GuardedBuffer> memory = memory_of(inputs);
    std::vector<void*> data;
    for (const GuardedBuffer& buffer : memory) data.push_back(buffer.data());
    runnable_.run(data, [&](int step, void* const* buffers) {
      if (step < 0) return;
      call_.steps.push_back(verified(step, buffers));
      if (after) after(step, call_.steps.back());
    });
    if (call_.steps.size() != regions_.size())
      call_.faults.push_back(fmt::format("{} of {} steps were run", call_.steps.size(), regions_.size()));
    check_arguments(data, memory);
    call_on_drawn(data, memory);
    return std::move(call_);
  }

 private:
  const std::string& name(TensorIndex tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].name;
  }

  /// Inputs and outputs end at guard pages.
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
      keep(tensor, memory.back().data(), "the caller");
    }
    for (const TensorIndex output : network_.outputs) {
      const Tensor& tensor = network_.tensors[static_cast<size_t>(output)];
      memory.emplace_back(static_cast<int64_t>(bytes_of(network_, output)), tensor.dtype->bytes());
    }
    return memory;
  }

  void keep(TensorIndex tensor, const void* data, const std::string& maker) {
    values_[tensor] = {elements_of(tensor, data), maker};
  }

  /// Of a tensor whose first element lies there, without what lies between its elements.
  std::vector<std::byte> elements_of(TensorIndex tensor, const void* data) const {
    const auto* const bytes = static_cast<const std::byte*>(data);
    const Tensor& of = network_.tensors[static_cast<size_t>(tensor)];
    if (!of.part) return {bytes, bytes + bytes_of(network_, tensor)};
    return load_from(*make_buffer(of.name, *of.dtype, lying_shape(of), kScopeGlobal, false, of.part->strides),
                     bytes)
        .bytes;
  }

  /// What nodes in place make of the tensors that are known by now, whatever lies where they are.
  void move_pieces() {
    for (std::vector<Piece>& pieces : in_place_) {
      const auto is_known = [&](const Piece& piece) { return values_.contains(piece.from); };
      if (pieces.empty() || !std::ranges::all_of(pieces, is_known)) continue;
      const TensorIndex to = pieces.front().to;
      std::vector<std::byte> moved(bytes_of(network_, to));
      for (const Piece& piece : pieces) move_piece(network_, piece, values_.at(piece.from).bytes, moved);
      if (readers_[to] > 0) values_[to] = {std::move(moved), values_.at(pieces.back().from).maker};
      for (const Piece& piece : std::exchange(pieces, {})) read_once(piece.from);
    }
  }

  /// What the tensor must be.
  Bytes value_of(TensorIndex tensor) const {
    if (const Constant* constant = network_.tensors[static_cast<size_t>(tensor)].constant.get())
      return constant->bytes;
    return values_.at(tensor).bytes;
  }

  /// What is wrong with the tensor where a step reads it, or nothing.
  std::string change_of(TensorIndex tensor, const std::vector<std::byte>& is) const {
    const Bytes was = value_of(tensor);
    if (std::ranges::equal(is, was)) return {};
    int64_t changed = 0;
    for (size_t i = 0; i < was.size(); ++i) changed += is[i] != was[i] ? 1 : 0;
    const bool constant = network_.tensors[static_cast<size_t>(tensor)].constant != nullptr;
    return fmt::format("'{}' is not as {} it: {} of {} bytes are others", name(tensor),
                       constant ? "the network has" : values_.at(tensor).maker + " left", changed,
                       was.size());
  }

  void read_once(TensorIndex tensor) {
    const auto value = values_.find(tensor);
    if (--readers_.at(tensor) == 0 && value != values_.end()) values_.erase(value);
  }

  VerifiedStep verified(int step, void* const* buffers) {
    const NodeWorkload& region = regions_[static_cast<size_t>(step)];
    VerifiedStep result;
    result.name = region.workload.name;
    for (size_t i = 0; i < region.inputs.size(); ++i) {
      if (!runnable_.reads(step, i)) continue;
      const std::string change = change_of(region.inputs[i], elements_of(region.inputs[i], buffers[i]));
      if (!change.empty()) result.faults.push_back("reads " + change);
    }
    if (result.faults.empty()) compare(region, buffers + region.inputs.size(), result);
    if (result.faults.empty() && !(result.looseness <= kLoosest)) remember(step, buffers);
    for (size_t i = 0; i < region.outputs.size(); ++i)
      keep(region.outputs[i], buffers[region.inputs.size() + i],
           fmt::format("step {} ({})", step, result.name));
    move_pieces();
    for (const TensorIndex input : region.inputs) read_once(input);
    return result;
  }

  void compare(const NodeWorkload& region, void* const* outputs, VerifiedStep& result) const {
    std::vector<Bytes> inputs, results;
    for (const TensorIndex input : region.inputs) inputs.push_back(value_of(input));
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

  /// What a step whose bounds are too wide has found and left.
  struct Loose {
    std::vector<void*> buffers;
    std::vector<tunesmith::Tensor> contents;  // of each
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
    const std::vector<Buffer> all = buffers_of(step);
    for (size_t i = 0; i < all.size(); ++i) {
      loose.buffers.push_back(runnable_.reads(step, i) ? buffers[i] : nullptr);
      loose.contents.push_back(loose.buffers[i] == nullptr
                                   ? tunesmith::Tensor()
                                   : load_from(*all[i], static_cast<std::byte*>(buffers[i])));
    }
    loose_.emplace(step, std::move(loose));
  }

  /// Null where it varies.
  const Constant* constant_of(TensorIndex tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].constant.get();
  }

  /// Whether there are data for the step.
  bool draw(int step, Loose& loose) {
    const NodeWorkload& region = regions_[static_cast<size_t>(step)];
    std::vector<Bytes> constants;
    for (const TensorIndex input : region.inputs)
      constants.push_back(constant_of(input) == nullptr ? Bytes() : constant_of(input)->bytes);
    std::string why;
    for (const DataKind data : {DataKind::Random, DataKind::Exact}) {
      try {
        loose.drawn = reference_(region.workload, data).draw(constants);
        return true;
      } catch (const UserError& error) {
        why = error.what();
      }
    }
    call_.steps[static_cast<size_t>(step)].faults.push_back("is not verified: " + why);
    return false;
  }

  /// Steps with useless bounds get data of their own, in a call that leaves all others what they had.
  void call_on_drawn(const std::vector<void*>& data, std::vector<GuardedBuffer>& memory) {
    for (auto entry = loose_.begin(); entry != loose_.end();)
      entry = draw(entry->first, entry->second) ? std::next(entry) : loose_.erase(entry);
    if (loose_.empty()) return;
    for (size_t i = 0; i < network_.inputs.size(); ++i) memory[i].set_read_only(false);
    runnable_.run(data, [&](int step, void* const*) {
      if (const auto loose = loose_.find(step); loose != loose_.end()) compare_drawn(step, loose->second);
      if (const auto next = loose_.find(step + 1); next != loose_.end())
        give(step + 1, next->second, next->second.drawn.inputs);
    });
  }

  /// To the first of the step's buffers that are no constants.
  void give(int step, const Loose& loose, std::span<const tunesmith::Tensor> contents) {
    const NodeWorkload& region = regions_[static_cast<size_t>(step)];
    const std::vector<Buffer> all = buffers_of(step);
    for (size_t i = 0; i < contents.size(); ++i) {
      const bool fixed = i < region.inputs.size() && constant_of(region.inputs[i]) != nullptr;
      if (loose.buffers[i] != nullptr && !fixed)
        store_in(*all[i], contents[i], static_cast<std::byte*>(loose.buffers[i]));
    }
  }

  void compare_drawn(int step, const Loose& loose) {
    const NodeWorkload& region = regions_[static_cast<size_t>(step)];
    VerifiedStep& result = call_.steps[static_cast<size_t>(step)];
    result.drawn = true;
    result.looseness = loose.drawn.looseness;
    for (size_t i = 0; i < region.outputs.size(); ++i) {
      const OutputDifference found = loose.drawn.expected[i].compare(loose.buffers[region.inputs.size() + i]);
      result.worst = std::max(result.worst, found.worst);
      if (!found.message.empty())
        result.faults.push_back(wrong(region.outputs[i], found.worst, found.message) +
                                ", on data drawn for it");
    }
    give(step, loose, loose.contents);
  }

  std::string wrong(TensorIndex output, double worst, const std::string& message) const {
    return fmt::format("computes '{}' wrong, by {:.3g} times what rounding explains: {}", name(output), worst,
                       message);
  }

  void check_arguments(const std::vector<void*>& data, const std::vector<GuardedBuffer>& memory) {
    const size_t inputs = network_.inputs.size();
    for (size_t i = 0; i < network_.outputs.size(); ++i) {
      if (!values_.contains(network_.outputs[i])) continue;  // the step that computes it was not run
      const std::string change =
          change_of(network_.outputs[i], elements_of(network_.outputs[i], data[inputs + i]));
      if (!change.empty()) call_.faults.push_back("the result " + change);
      if (!memory[inputs + i].check_canary())
        call_.faults.push_back(
            fmt::format("the memory beside the result '{}' was written", name(network_.outputs[i])));
    }
  }

  struct Value {
    std::vector<std::byte> bytes;
    std::string maker;
  };

  const Network& network_;
  const std::span<const NodeWorkload> regions_;
  const std::function<const StepReference&(const Workload&, DataKind)> reference_;
  RunnableNetwork& runnable_;
  std::map<TensorIndex, int64_t> readers_;  // steps, and the caller, that are still to read it
  std::map<TensorIndex, Value> values_;
  std::vector<std::vector<Piece>> in_place_;  // of each node in place; empty where that is done
  std::map<int, Loose> loose_;                // by step
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
