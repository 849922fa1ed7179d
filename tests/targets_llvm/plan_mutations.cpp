#include "plan_mutations.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "tunesmith/network/plan_memory.h"

namespace tunesmith::testing {
namespace {

using network::BufferPlace;
using network::LibraryPlan;
using network::Lifetime;
using network::Network;
using network::RegionKernel;
using network::TensorIndex;
using Kind = BufferPlace::Kind;

class PlanMutator {
 public:
  PlanMutator(const Network& network, const std::vector<RegionKernel>& kernels, const LibraryPlan& plan)
      : network_(network), kernels_(kernels), plan_(plan) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto step = static_cast<int64_t>(i);
      for (const TensorIndex output : kernels[i].outputs) {
        if (std::ranges::find(network.outputs, output) == network.outputs.end())
          lifetimes_[output] = {bytes_of(output), step, step};
      }
      for (const TensorIndex input : kernels[i].inputs)
        if (const auto found = lifetimes_.find(input); found != lifetimes_.end()) found->second.last = step;
    }
  }

  PlanMutations run() {
    for (const auto& [tensor, lifetime] : lifetimes_) {
      if (lifetime.last > lifetime.first) {
        change_lifetime("lifetime short by one", tensor, {lifetime.bytes, lifetime.first, lifetime.last - 1});
        change_lifetime("lifetime late by one", tensor, {lifetime.bytes, lifetime.first + 1, lifetime.last});
      }
      if (lifetime.bytes > network::kTensorAlignment)
        change_lifetime("tensor taken too small", tensor,
                        {lifetime.bytes / 2, lifetime.first, lifetime.last});
    }
    put_together();
    for (size_t step = 0; step < kernels_.size(); ++step) {
      change_places(step);
      exchange_steps(step);
    }
    for (size_t piece = 0; piece < plan_.weights.size(); ++piece) change_weights(piece);
    return std::move(made_);
  }

 private:
  const network::Tensor& tensor(TensorIndex index) const {
    return network_.tensors[static_cast<size_t>(index)];
  }

  int64_t bytes_of(TensorIndex index) const {
    int64_t elements = 1;
    for (const network::Extent& extent : *tensor(index).shape) elements *= std::get<int64_t>(extent);
    return elements * tensor(index).dtype->bytes();
  }

  void add(const std::string& kind, const std::string& what, const std::function<void(LibraryPlan&)>& change,
           std::shared_ptr<std::vector<std::byte>> bytes = nullptr) {
    made_.wrong.push_back({kind, what, plan_, std::move(bytes)});
    change(made_.wrong.back().plan);
  }

  using Offsets = std::map<TensorIndex, int64_t>;

  /// Do two tensors that live at the same time share a byte?
  bool is_wrong(const Offsets& offsets) const {
    for (const auto& [a, of_a] : lifetimes_) {
      for (const auto& [b, of_b] : lifetimes_) {
        const bool together = a < b && of_a.first <= of_b.last && of_b.first <= of_a.last;
        if (together && offsets.at(a) < offsets.at(b) + of_b.bytes &&
            offsets.at(b) < offsets.at(a) + of_a.bytes)
          return true;
      }
    }
    return false;
  }

  /// With these places of the tensors between steps, and the memory that they take.
  void add_placed(const std::string& kind, const std::string& what, const Offsets& offsets) {
    if (!is_wrong(offsets)) {
      ++made_.harmless;
      return;
    }
    add(kind, what, [&](LibraryPlan& changed) {
      for (const auto& [index, offset] : offsets)
        changed.arena_bytes =
            std::max(changed.arena_bytes, network::align_up(offset + lifetimes_.at(index).bytes));
      for (size_t i = 0; i < kernels_.size(); ++i) {
        std::vector<TensorIndex> all = kernels_[i].inputs;
        all.insert(all.end(), kernels_[i].outputs.begin(), kernels_[i].outputs.end());
        for (size_t j = 0; j < all.size(); ++j)
          if (const auto found = offsets.find(all[j]); found != offsets.end())
            changed.steps[i].buffers[j].at = found->second;
      }
    });
  }

  void change_lifetime(const std::string& kind, TensorIndex of, const Lifetime& wrong) {
    std::vector<Lifetime> all;
    for (const auto& [index, lifetime] : lifetimes_) all.push_back(index == of ? wrong : lifetime);
    for (size_t i = 0; i < kernels_.size(); ++i)
      all.push_back({kernels_[i].kernel->workspace_bytes, static_cast<int64_t>(i), static_cast<int64_t>(i)});
    const network::MemoryPlan memory = network::plan_memory(all);
    Offsets offsets;
    for (const auto& [index, lifetime] : lifetimes_) offsets[index] = memory.offsets[offsets.size()];
    add_placed(kind, tensor(of).name, offsets);
  }

  /// Each two tensors that live at the same time in one place.
  void put_together() {
    Offsets planned;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      for (size_t j = 0; j < kernels_[i].outputs.size(); ++j)
        planned[kernels_[i].outputs[j]] = plan_.steps[i].buffers[kernels_[i].inputs.size() + j].at;
    }
    std::erase_if(planned, [&](const auto& each) { return !lifetimes_.contains(each.first); });
    for (const auto& [a, of_a] : lifetimes_) {
      for (const auto& [b, of_b] : lifetimes_) {
        if (a >= b || of_a.first > of_b.last || of_b.first > of_a.last) continue;
        Offsets offsets = planned;
        offsets[a] = offsets[b];
        add_placed("two tensors in one place", tensor(a).name + " and " + tensor(b).name, offsets);
      }
    }
  }

  bool varies(size_t step, size_t buffer) const {
    const Kind kind = plan_.steps[step].buffers[buffer].kind;
    return kind != Kind::Weights;
  }

  void set_place(const std::string& kind, size_t step, size_t buffer, const BufferPlace& place) {
    add(kind, fmt::format("step {}, buffer {}", step, buffer),
        [&](LibraryPlan& changed) { changed.steps[step].buffers[buffer] = place; });
  }

  static bool same(const BufferPlace& a, const BufferPlace& b) { return a.kind == b.kind && a.at == b.at; }

  void change_places(size_t step) {
    const RegionKernel& kernel = kernels_[step];
    const std::vector<BufferPlace>& places = plan_.steps[step].buffers;
    const size_t inputs = kernel.inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      if (!varies(step, i)) continue;
      for (size_t j = i + 1; j < inputs; ++j) {
        if (!varies(step, j) || bytes_of(kernel.inputs[i]) != bytes_of(kernel.inputs[j]) ||
            same(places[i], places[j]))
          continue;
        add("exchanged buffers", fmt::format("step {}, {} and {}", step, i, j), [&](LibraryPlan& changed) {
          std::swap(changed.steps[step].buffers[i], changed.steps[step].buffers[j]);
        });
      }
      stale_input(step, i);
    }
    for (size_t i = 0; i < kernel.outputs.size(); ++i) lost_output(step, inputs + i, kernel.outputs[i]);
  }

  /// The result of the step before, or a given tensor, in place of what it reads.
  void stale_input(size_t step, size_t input) {
    const BufferPlace right = plan_.steps[step].buffers[input];
    const int64_t bytes = bytes_of(kernels_[step].inputs[input]);
    for (size_t i = 0; i < network_.inputs.size(); ++i) {
      const BufferPlace given{Kind::Input, static_cast<int64_t>(i)};
      if (bytes_of(network_.inputs[i]) == bytes && !same(given, right))
        set_place("stale input", step, input, given);
    }
    if (step == 0) return;
    const RegionKernel& before = kernels_[step - 1];
    const BufferPlace other = plan_.steps[step - 1].buffers[before.inputs.size()];
    if (bytes_of(before.outputs[0]) == bytes && !same(other, right))
      set_place("stale input", step, input, other);
  }

  /// Where nobody looks for it: behind all that is planned.
  void lost_output(size_t step, size_t buffer, TensorIndex output) {
    add("result elsewhere", fmt::format("step {}", step), [&](LibraryPlan& changed) {
      changed.steps[step].buffers[buffer] = {Kind::Arena, changed.arena_bytes};
      changed.arena_bytes += network::align_up(bytes_of(output));
    });
  }

  /// Of each buffer that is no prepared memory.
  std::vector<int64_t> sizes_of(size_t step) const {
    std::vector<int64_t> sizes;
    for (const TensorIndex input : kernels_[step].inputs) sizes.push_back(bytes_of(input));
    for (const TensorIndex output : kernels_[step].outputs) sizes.push_back(bytes_of(output));
    return sizes;
  }

  /// Of steps with buffers of the same sizes, so that nothing is read beyond them.
  void exchange_steps(size_t step) {
    if (step + 1 == kernels_.size() || sizes_of(step) != sizes_of(step + 1)) return;
    const bool reads = std::ranges::any_of(kernels_[step + 1].inputs, [&](TensorIndex input) {
      return std::ranges::find(kernels_[step].outputs, input) != kernels_[step].outputs.end();
    });
    if (reads)
      add("wrong order", fmt::format("steps {} and {}", step, step + 1),
          [&](LibraryPlan& changed) { std::swap(changed.steps[step], changed.steps[step + 1]); });
  }

  /// One number of a piece: the lowest bit of a constant, a 64th of what a kernel has prepared.
  void change_weights(size_t piece) {
    const std::span<const std::byte> was = plan_.weights[piece].bytes;
    const bool is_constant = std::ranges::any_of(network_.tensors, [&](const network::Tensor& each) {
      return each.constant != nullptr && each.constant->bytes.data() == was.data();
    });
    const size_t numbers = was.size() / sizeof(float);
    for (const size_t at : {size_t{0}, numbers - 1}) {
      auto bytes = std::make_shared<std::vector<std::byte>>(was.begin(), was.end());
      if (is_constant) {
        (*bytes)[at * sizeof(float)] ^= std::byte{1};
      } else {
        float number = 0;
        std::memcpy(&number, bytes->data() + at * sizeof(float), sizeof number);
        number = number * (1 + 1.0F / 64) + 1.0F / 1024;
        std::memcpy(bytes->data() + at * sizeof(float), &number, sizeof number);
      }
      add(
          is_constant ? "stale constant" : "stale preparation", fmt::format("piece {}, number {}", piece, at),
          [&](LibraryPlan& changed) { changed.weights[piece].bytes = *bytes; }, bytes);
      if (numbers == 1) break;
    }
  }

  const Network& network_;
  const std::vector<RegionKernel>& kernels_;
  const LibraryPlan& plan_;
  std::map<TensorIndex, Lifetime> lifetimes_;  // of what lies in the call's memory
  PlanMutations made_;
};

}  // namespace

PlanMutations plan_mutations(const Network& network, const std::vector<RegionKernel>& kernels,
                             const LibraryPlan& plan) {
  return PlanMutator(network, kernels, plan).run();
}

}  // namespace tunesmith::testing
