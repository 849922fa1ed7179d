#include "tunesmith/network/plan_library.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "check_plan.h"
#include "joined.h"
#include "loops/loops_of_tensors.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

int64_t bytes_of(const TensorType& type) { return element_count(type.shape) * type.dtype.bytes(); }

class Planner {
 public:
  Planner(const Network& network, const std::vector<RegionKernel>& kernels, const std::string& name)
      : network_(network), kernels_(kernels) {
    plan_.name = name;
    plan_.inputs = arguments_of(network, network.inputs);
    plan_.outputs = arguments_of(network, network.outputs);
    plan_.counted = network.counted;
    for (size_t i = 0; i < network.inputs.size(); ++i)
      places_[network.inputs[i]] = {BufferPlace::Kind::Input, static_cast<int64_t>(i)};
  }

  LibraryPlan run() {
    find_loops();
    find_lifetimes();
    place_results();
    place_in_arena();
    for (size_t i = 0; i < kernels_.size(); ++i) add_step(i);
    return std::move(plan_);
  }

 private:
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }

  /// The tensor whose memory contains this one: a part's lifetime extends its whole's.
  TensorIndex whole_of(TensorIndex index) const {
    return tensor(index).part ? tensor(index).part->whole : index;
  }

  /// A range of kernels, which runs `trips` times.
  struct Span {
    size_t first = 0, last = 0;
    int64_t trips = 1;
  };

  void find_loops() {
    const std::map<TensorIndex, const Loop*> loops = loops_of_tensors(network_);
    std::map<const Loop*, Span> spans;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const auto found = loops.find(kernels_[i].outputs.front());
      if (found != loops.end())
        spans.try_emplace(found->second, Span{i, i, found->second->trips}).first->second.last = i;
    }
    for (size_t i = 0; i < kernels_.size(); ++i) spans_.push_back({i, i});
    for (const auto& [loop, span] : spans)
      for (size_t i = span.first; i <= span.last; ++i) spans_[i] = span;
  }

  /// A loop-carried tensor lives during the whole loop, and so does a tensor from before the loop that the
  /// loop reads.
  void find_lifetimes() {
    std::set<TensorIndex> computed;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const auto step = static_cast<int64_t>(i);
      for (const TensorIndex output : kernels_[i].outputs) {
        check_invariant(computed.insert(output).second, "one kernel computes a tensor");
        const TensorIndex whole = whole_of(output);
        const bool passes = tensor(output).part && tensor(output).part->advance != 0;
        const auto first = passes ? static_cast<int64_t>(spans_[i].first) : step;
        const auto last = passes ? static_cast<int64_t>(spans_[i].last) : step;
        Lifetime& lifetime =
            lifetimes_.try_emplace(whole, Lifetime{bytes_of(input_of(tensor(whole)).type), first, last})
                .first->second;
        lifetime.last = std::max(lifetime.last, last);
      }
      for (const TensorIndex input : kernels_[i].inputs) {
        const auto found = lifetimes_.find(whole_of(input));
        if (found == lifetimes_.end()) continue;
        const bool is_older = found->second.first < static_cast<int64_t>(spans_[i].first);
        found->second.last =
            std::max(found->second.last, is_older ? static_cast<int64_t>(spans_[i].last) : step);
      }
    }
  }

  /// Results are computed directly in the caller's memory.
  void place_results() {
    for (size_t i = 0; i < network_.outputs.size(); ++i) {
      const TensorIndex output = network_.outputs[i];
      if (lifetimes_.erase(output) == 0 && !has_no_elements(tensor(output)))
        throw UserError(
            fmt::format("the result '{}' is an input or a constant of the network, which no kernel computes",
                        tensor(output).name));
      places_[output] = {BufferPlace::Kind::Output, static_cast<int64_t>(i)};
    }
  }

  void place_in_arena() {
    std::vector<Lifetime> all;
    for (const auto& [index, lifetime] : lifetimes_) all.push_back(lifetime);
    for (size_t i = 0; i < kernels_.size(); ++i)
      all.push_back({kernels_[i].kernel->workspace_bytes, static_cast<int64_t>(i), static_cast<int64_t>(i)});
    const MemoryPlan memory = plan_memory(all);
    plan_.arena_bytes = memory.bytes;
    size_t next = 0;
    for (const auto& [index, lifetime] : lifetimes_)
      places_[index] = {BufferPlace::Kind::Arena, memory.offsets[next++]};
    workspaces_.assign(memory.offsets.begin() + static_cast<std::ptrdiff_t>(next), memory.offsets.end());
  }

  BufferPlace add_weights(std::span<const std::byte> bytes) {
    const BufferPlace place{BufferPlace::Kind::Weights, plan_.weight_bytes};
    plan_.weights.push_back({plan_.weight_bytes, bytes});
    plan_.weight_bytes += align_up(static_cast<int64_t>(bytes.size()));
    return place;
  }

  BufferPlace place_of(TensorIndex index) {
    if (const std::optional<Part>& part = tensor(index).part) {
      BufferPlace place = place_of(part->whole);
      const int64_t bytes = tensor(index).dtype->bytes();
      place.begin = part->begin * bytes;
      place.advance = part->advance * bytes;
      place.period = part->period;
      return place;
    }
    const auto found = places_.find(index);
    if (found != places_.end()) return found->second;
    check_invariant(tensor(index).constant != nullptr, "a kernel reads what is given, computed or constant");
    return places_[index] = add_weights(tensor(index).constant->bytes);
  }

  void add_step(size_t i) {
    const RegionKernel& region = kernels_[i];
    LibraryStep step{region.name, region.kernel, {}, workspaces_[i]};
    if (spans_[i].last == i) {
      step.back_to = spans_[i].first;
      step.trips = spans_[i].trips;
    }
    for (size_t position = 0; position < region.inputs.size(); ++position) {
      // A kernel that reads only prepared memory ignores this pointer.
      step.buffers.push_back(reads_buffer(*region.kernel, position)
                                 ? place_of(region.inputs[position])
                                 : BufferPlace{BufferPlace::Kind::Weights, 0});
    }
    for (const TensorIndex output : region.outputs) step.buffers.push_back(place_of(output));
    if (region.kernel->prepare) step.buffers.push_back(add_weights(region.prepared));
    plan_.steps.push_back(std::move(step));
  }

  const Network& network_;
  const std::vector<RegionKernel>& kernels_;
  LibraryPlan plan_;
  std::map<TensorIndex, Lifetime> lifetimes_;  // of the tensors that kernels compute
  std::map<TensorIndex, BufferPlace> places_;
  std::vector<int64_t> workspaces_;
  std::vector<Span> spans_;  // the range of each kernel's loop; for other kernels, the kernel itself
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, Free>;

AlignedMemory aligned_memory(int64_t bytes) {
  AlignedMemory memory(
      std::aligned_alloc(kTensorAlignment, static_cast<size_t>(std::max(align_up(bytes), kTensorAlignment))));
  if (memory == nullptr)
    throw EnvironmentError(fmt::format("cannot allocate {} bytes to prepare weights", bytes));
  return memory;
}

}  // namespace

std::vector<std::byte> prepare(const Network& network, const NodeWorkload& workload,
                               const CompiledKernel& kernel, Target& target) {
  if (!kernel.prepare) return {};
  // Copies of constants, aligned to their elements: in a file they may be unaligned.
  std::vector<AlignedMemory> constants;
  std::vector<void*> buffers;
  for (const TensorIndex input : workload.inputs) {
    const Constant* constant = network.tensor(input).constant.get();
    if (constant == nullptr) {
      buffers.push_back(nullptr);
      continue;
    }
    constants.push_back(aligned_memory(std::ssize(constant->bytes)));
    if (!constant->bytes.empty())
      std::memcpy(constants.back().get(), constant->bytes.data(), constant->bytes.size());
    buffers.push_back(constants.back().get());
  }
  buffers.resize(buffers.size() + workload.outputs.size(), nullptr);
  const AlignedMemory prepared = aligned_memory(kernel.prepare->bytes),
                      workspace = aligned_memory(kernel.workspace_bytes);
  buffers.push_back(prepared.get());
  const std::unique_ptr<LoadedKernel> loaded = target.load(kernel);
  const auto serial = [](void* /*pool*/, int64_t count, tunesmith_loop_body body, void* closure) {
    body(closure, 0, count);
  };
  loaded->prepare()(buffers.data(), workspace.get(), serial, nullptr);
  std::vector<std::byte> bytes(static_cast<size_t>(kernel.prepare->bytes));
  std::memcpy(bytes.data(), prepared.get(), bytes.size());
  return bytes;
}

std::vector<LibraryArgument> arguments_of(const Network& network, const std::vector<TensorIndex>& tensors) {
  std::vector<LibraryArgument> arguments;
  for (const TensorIndex tensor : tensors) {
    const Tensor& of = network.tensor(tensor);
    arguments.push_back({of.name, input_of(of).type});
  }
  return arguments;
}

LibraryPlan plan_library(const Network& network, const std::vector<RegionKernel>& kernels,
                         const std::string& name) {
  return Planner(network, kernels, name).run();
}

LibraryPlan plan_library(const TaskedNetwork& tasked, const std::vector<RegionKernel>& kernels,
                         const std::string& name) {
  LibraryPlan plan = plan_library(tasked.network, kernels, name);
  plan.varying = tasked.varying;
  const auto set_forms = [&](std::vector<LibraryArgument>& arguments,
                             const std::vector<TensorIndex>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const auto found = tasked.forms.find(tensors[i]); found != tasked.forms.end())
        arguments[i].form = found->second;
  };
  set_forms(plan.inputs, tasked.network.inputs);
  set_forms(plan.outputs, tasked.network.outputs);
  return plan;
}

std::pair<size_t, size_t> place_of_extent(std::span<const LibraryArgument> inputs,
                                          std::span<const VaryingExtent> varying, size_t extent) {
  ExtentForm alone{0, std::vector<int64_t>(varying.size(), 0)};
  alone.factors[extent] = 1;
  for (size_t input = 0; input < inputs.size(); ++input) {
    const auto found = std::ranges::find(inputs[input].form, alone);
    if (found != inputs[input].form.end())
      return {input, static_cast<size_t>(found - inputs[input].form.begin())};
  }
  throw UserError(fmt::format("'{}' is not an extent of an input", varying[extent].name),
                  "a library reads varying extents from the shapes of its inputs");
}

std::vector<LibraryArgument> at_values(std::vector<LibraryArgument> arguments,
                                       std::span<const int64_t> values) {
  for (LibraryArgument& argument : arguments)
    argument.type.shape = shape_at(argument.type.shape, argument.form, values);
  return arguments;
}

}  // namespace tunesmith::network
