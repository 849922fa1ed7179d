#include "plan_mutations.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>

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
        const TensorIndex whole = whole_of(output);
        if (std::ranges::find(network.outputs, whole) != network.outputs.end()) continue;
        lifetimes_.try_emplace(whole, Lifetime{bytes_of(whole), step, step}).first->second.last = step;
        computed_[output] = {bytes_of(output), step, step};
        places_[output] = bytes_in_whole(output);
      }
      for (const TensorIndex input : kernels[i].inputs) {
        const auto found = lifetimes_.find(whole_of(input));
        if (found == lifetimes_.end()) continue;
        found->second.last = step;
        const std::set<int64_t> read = bytes_in_whole(input);
        for (auto& [output, lifetime] : computed_)
          if (whole_of(output) == whole_of(input) && meet(places_.at(output), 0, read, 0))
            lifetime.last = step;
      }
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
    for (const auto& [part, lifetime] : computed_) {
      const TensorIndex whole = whole_of(part);
      if (part != whole)
        change_lifetime("lifetime of one part", whole,
                        {lifetimes_.at(whole).bytes, lifetime.first, lifetime.last});
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

  /// The bytes from the first element to the last.
  int64_t span_of(TensorIndex index) const {
    const std::set<int64_t> bytes = bytes_in_whole(index);
    return *bytes.rbegin() + 1 - *bytes.begin();
  }

  void add(const std::string& kind, const std::string& what, const std::function<void(LibraryPlan&)>& change,
           std::shared_ptr<std::vector<std::byte>> bytes = nullptr) {
    made_.wrong.push_back({kind, what, plan_, std::move(bytes)});
    change(made_.wrong.back().plan);
  }

  TensorIndex whole_of(TensorIndex index) const {
    return tensor(index).part ? tensor(index).part->whole : index;
  }

  /// The offsets of its bytes in the tensor of which it is a part, or in itself.
  std::set<int64_t> bytes_in_whole(TensorIndex index) const {
    const int64_t size = tensor(index).dtype->bytes();
    std::set<int64_t> elements = {0};
    if (const std::optional<network::Part>& part = tensor(index).part) {
      elements = {part->begin};
      for (size_t d = 0; d < part->strides.size(); ++d) {
        const size_t axis = tensor(index).order.empty() ? d : static_cast<size_t>(tensor(index).order[d]);
        const std::set<int64_t> before = elements;
        for (int64_t i = 1; i < std::get<int64_t>((*tensor(index).shape)[axis]); ++i)
          for (const int64_t element : before) elements.insert(element + i * part->strides[d]);
      }
    } else {
      for (int64_t i = 1; i < bytes_of(index) / size; ++i) elements.insert(i);
    }
    std::set<int64_t> bytes;
    for (const int64_t element : elements)
      for (int64_t i = 0; i < size; ++i) bytes.insert(element * size + i);
    return bytes;
  }

  static bool meet(const std::set<int64_t>& a, int64_t at_a, const std::set<int64_t>& b, int64_t at_b) {
    return std::ranges::any_of(a, [&](int64_t byte) { return b.contains(byte + at_a - at_b); });
  }

  using Offsets = std::map<TensorIndex, int64_t>;

  /// Do two tensors that live at the same time share a byte?
  bool is_wrong(const Offsets& offsets) const {
    for (const auto& [a, of_a] : computed_) {
      for (const auto& [b, of_b] : computed_) {
        const bool together = a < b && of_a.first <= of_b.last && of_b.first <= of_a.last;
        if (together && meet(places_.at(a), offsets.at(whole_of(a)), places_.at(b), offsets.at(whole_of(b))))
          return true;
      }
    }
    return false;
  }

  /// Adds a plan with these places of the tensors between steps, and the memory that they need.
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
          if (const auto found = offsets.find(whole_of(all[j])); found != offsets.end())
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

  /// Puts any two tensors that live at the same time in one place.
  void put_together() {
    Offsets planned;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      for (size_t j = 0; j < kernels_[i].outputs.size(); ++j)
        planned[whole_of(kernels_[i].outputs[j])] = plan_.steps[i].buffers[kernels_[i].inputs.size() + j].at;
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

  static bool same(const BufferPlace& a, const BufferPlace& b) {
    return a.kind == b.kind && a.at == b.at && a.begin == b.begin;
  }

  void change_places(size_t step) {
    const RegionKernel& kernel = kernels_[step];
    const std::vector<BufferPlace>& places = plan_.steps[step].buffers;
    const size_t inputs = kernel.inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      if (!varies(step, i)) continue;
      for (size_t j = i + 1; j < inputs; ++j) {
        if (!varies(step, j) || span_of(kernel.inputs[i]) != span_of(kernel.inputs[j]) ||
            same(places[i], places[j]))
          continue;
        add("exchanged buffers", fmt::format("step {}, {} and {}", step, i, j), [&](LibraryPlan& changed) {
          std::swap(changed.steps[step].buffers[i], changed.steps[step].buffers[j]);
        });
      }
      stale_input(step, i);
    }
    for (size_t i = 0; i < kernel.outputs.size(); ++i) {
      lost_output(step, inputs + i, kernel.outputs[i]);
      exchange_parts(step, inputs + i, kernel.outputs[i]);
    }
    for (size_t i = 0; i < places.size(); ++i) shift_part(step, i);
  }

  /// Moves a part by one element.
  void shift_part(size_t step, size_t buffer) {
    const RegionKernel& kernel = kernels_[step];
    const size_t inputs = kernel.inputs.size();
    if (buffer >= inputs + kernel.outputs.size()) return;
    const TensorIndex index = buffer < inputs ? kernel.inputs[buffer] : kernel.outputs[buffer - inputs];
    if (!tensor(index).part) return;
    BufferPlace place = plan_.steps[step].buffers[buffer];
    const int64_t size = tensor(index).dtype->bytes();
    place.begin += place.begin > 0 ? -size : size;
    set_place("part shifted by one", step, buffer, place);
  }

  /// Exchanges a part with one of the same tensor and shape that another step computes.
  void exchange_parts(size_t step, size_t buffer, TensorIndex output) {
    if (!tensor(output).part) return;
    for (size_t other = step + 1; other < kernels_.size(); ++other) {
      for (size_t i = 0; i < kernels_[other].outputs.size(); ++i) {
        const TensorIndex neighbour = kernels_[other].outputs[i];
        if (whole_of(neighbour) != whole_of(output) || tensor(neighbour).shape != tensor(output).shape ||
            tensor(neighbour).part->strides != tensor(output).part->strides)
          continue;
        add("exchanged parts", fmt::format("steps {} and {}", step, other), [&](LibraryPlan& changed) {
          std::swap(changed.steps[step].buffers[buffer],
                    changed.steps[other].buffers[kernels_[other].inputs.size() + i]);
        });
      }
    }
  }

  /// Reads the result of the step before, or a given tensor, instead.
  void stale_input(size_t step, size_t input) {
    const BufferPlace right = plan_.steps[step].buffers[input];
    const int64_t span = span_of(kernels_[step].inputs[input]);
    for (size_t i = 0; i < network_.inputs.size(); ++i) {
      const BufferPlace given{Kind::Input, static_cast<int64_t>(i)};
      if (span_of(network_.inputs[i]) == span && !same(given, right))
        set_place("stale input", step, input, given);
    }
    if (step == 0) return;
    const RegionKernel& before = kernels_[step - 1];
    const BufferPlace other = plan_.steps[step - 1].buffers[before.inputs.size()];
    if (span_of(before.outputs[0]) == span && !same(other, right))
      set_place("stale input", step, input, other);
  }

  /// Writes an output behind all planned memory, where nobody reads it.
  void lost_output(size_t step, size_t buffer, TensorIndex output) {
    add("result elsewhere", fmt::format("step {}", step), [&](LibraryPlan& changed) {
      changed.steps[step].buffers[buffer] = {Kind::Arena, changed.arena_bytes};
      changed.arena_bytes += network::align_up(span_of(output));
    });
  }

  /// The sizes of the step's buffers, without prepared memory.
  std::vector<int64_t> sizes_of(size_t step) const {
    std::vector<int64_t> sizes;
    for (const TensorIndex input : kernels_[step].inputs) sizes.push_back(span_of(input));
    for (const TensorIndex output : kernels_[step].outputs) sizes.push_back(span_of(output));
    return sizes;
  }

  /// Exchanges steps with buffers of the same sizes, so that nothing is read beyond them.
  void exchange_steps(size_t step) {
    if (step + 1 == kernels_.size() || sizes_of(step) != sizes_of(step + 1)) return;
    const bool reads = std::ranges::any_of(kernels_[step + 1].inputs, [&](TensorIndex input) {
      return std::ranges::find(kernels_[step].outputs, input) != kernels_[step].outputs.end();
    });
    if (reads)
      add("wrong order", fmt::format("steps {} and {}", step, step + 1), [&](LibraryPlan& changed) {
        network::LibraryStep &first = changed.steps[step], &second = changed.steps[step + 1];
        std::swap(first, second);
        std::swap(first.back_to, second.back_to);  // loops stay where they are
        std::swap(first.trips, second.trips);
      });
  }

  /// Changes one number of a piece: the lowest bit of a constant, or a 64th of a prepared number.
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
  std::map<TensorIndex, Lifetime> lifetimes_;        // of tensors that are not parts, in the call's memory
  std::map<TensorIndex, Lifetime> computed_;         // of kernels' results there, until they are last read
  std::map<TensorIndex, std::set<int64_t>> places_;  // a tensor's bytes in the one of which it is a part
  PlanMutations made_;
};

}  // namespace

PlanMutations plan_mutations(const Network& network, const std::vector<RegionKernel>& kernels,
                             const LibraryPlan& plan) {
  return PlanMutator(network, kernels, plan).run();
}

}  // namespace tunesmith::testing
