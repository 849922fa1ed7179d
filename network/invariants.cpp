#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "parts.h"
#include "tunesmith/network/network.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

class Checker {
 public:
  explicit Checker(const Network& network) : network_(network), known_(network.tensors.size()) {}

  void check() {
    check_tensors();
    for (const TensorIndex input : network_.inputs) {
      require(exists(input), "an input", "is not a tensor");
      require(!known_[input], "the input", "is duplicate or a constant", name(input));
      known_[input] = true;
    }
    check_nodes();
    std::set<TensorIndex> outputs;
    for (const TensorIndex output : network_.outputs) {
      require(exists(output), "an output", "is not a tensor");
      require(known_[output], "the output", "is neither an input nor computed", name(output));
      require(outputs.insert(output).second, "the output", "is duplicate", name(output));
    }
    for (const CountedOutput& each : network_.counted) check_counted(each);
  }

 private:
  void require(bool condition, std::string_view what, std::string_view fault,
               std::string_view name = {}) const {
    if (condition) return;
    throw InternalError(name.empty()
                            ? fmt::format("network '{}': {} {}", network_.name, what, fault)
                            : fmt::format("network '{}': {} '{}' {}", network_.name, what, name, fault));
  }

  bool exists(TensorIndex index) const {
    return index >= 0 && static_cast<size_t>(index) < network_.tensors.size();
  }
  const std::string& name(TensorIndex index) const { return network_.tensors[index].name; }

  void check_tensors() {
    std::set<std::string_view> names;
    for (size_t i = 0; i < network_.tensors.size(); ++i) {
      const Tensor& tensor = network_.tensors[i];
      require(!tensor.name.empty(), "a tensor", "has no name");
      require(names.insert(tensor.name).second, "the tensor", "is duplicate", tensor.name);
      if (tensor.shape) check_shape(tensor);
      check_order(tensor);
      check_part(tensor);
      if (!tensor.constant) continue;
      check_constant(tensor);
      known_[i] = true;
    }
  }

  void check_order(const Tensor& tensor) const {
    if (tensor.order.empty()) return;
    std::vector<int32_t> axes = tensor.order;
    std::ranges::sort(axes);
    std::vector<int32_t> all(axes.size());
    std::iota(all.begin(), all.end(), 0);
    require(tensor.shape && tensor.shape->size() == axes.size() && axes == all, "the order",
            "is not of the axes that the tensor has", tensor.name);
    require(tensor.constant == nullptr, "the order", "is of a constant", tensor.name);
  }

  void check_part(const Tensor& tensor) const {
    if (!tensor.part) return;
    require(exists(tensor.part->whole), "a part's whole", "is not a tensor", tensor.name);
    const Tensor& whole = network_.tensor(tensor.part->whole);
    const int64_t moved = tensor.part->advance * (tensor.part->period - 1);
    require(!whole.part && whole.dtype == tensor.dtype && (!whole.constant || moved != 0) && !tensor.constant,
            "the part", "is a part, a constant or of another type", tensor.name);
    int64_t end = tensor.part->begin + std::max<int64_t>(moved, 0) + 1;
    require(tensor.part->begin + std::min<int64_t>(moved, 0) >= 0 && tensor.shape &&
                tensor.part->strides.size() == tensor.shape->size(),
            "the part", "has a wrong number of strides", tensor.name);
    const Shape lying = lying_shape(tensor);
    for (size_t d = 0; d < lying.size(); ++d) {
      require(lying[d] > 0 && tensor.part->strides[d] > 0, "the part", "has no elements", tensor.name);
      end += (lying[d] - 1) * tensor.part->strides[d];
    }
    require(end <= element_count(lying_shape(whole)), "the part", "exceeds its whole", tensor.name);
  }

  void check_counted(const CountedOutput& counted) const {
    require(counted.output < network_.outputs.size() && counted.by < network_.outputs.size(), "a count",
            "does not belong to a result");
    const Tensor& tensor = network_.tensors[network_.outputs[counted.output]];
    require(tensor.shape && counted.axis < tensor.shape->size(), "the counted result", "has no such axis",
            tensor.name);
    const Tensor& count = network_.tensors[network_.outputs[counted.by]];
    const bool is_one = count.shape && std::ranges::all_of(*count.shape, [](const Extent& extent) {
                          return extent == Extent(int64_t{1});
                        });
    require(count.dtype == kI64 && is_one, "the count", "is not one i64", count.name);
  }

  void check_shape(const Tensor& tensor) const {
    for (const Extent& extent : *tensor.shape) {
      const auto* number = std::get_if<int64_t>(&extent);
      require(number ? *number >= 0 : !std::get<std::string>(extent).empty(), "the tensor",
              "has an extent below 0 or without a name", tensor.name);
    }
  }

  void check_constant(const Tensor& tensor) const {
    const Constant& constant = *tensor.constant;
    uint64_t bytes = constant.dtype.bytes();
    for (const int64_t extent : constant.shape) {
      require(extent >= 0, "the constant", "has an extent below 0", tensor.name);
      require(!__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes), "the constant",
              "has too many elements", tensor.name);
    }
    require(bytes == constant.bytes.size(), "the constant", "has a wrong number of bytes for its shape",
            tensor.name);
    require(tensor.dtype == constant.dtype, "the constant", "differs in type from its tensor", tensor.name);
    require(tensor.shape == std::vector<Extent>(constant.shape.begin(), constant.shape.end()), "the constant",
            "differs in shape from its tensor", tensor.name);
  }

  void check_nodes() {
    std::set<std::string_view> names;
    for (size_t position = 0; position < network_.nodes.size(); ++position) {
      const Node& node = network_.nodes[position];
      enter_and_leave_loops(position);
      require(!node.name.empty(), "a node", "has no name");
      require(names.insert(node.name).second, "the node", "is duplicate", node.name);
      for (const TensorIndex input : node.inputs) {
        if (input == kAbsent) continue;
        require(exists(input), "the node", "reads an undefined tensor", node.name);
        require(known_[input], "the node", "reads a tensor that no node before it computes", node.name);
      }
      for (const TensorIndex output : node.outputs) {
        if (output == kAbsent) continue;
        require(exists(output), "the node", "computes an undefined tensor", node.name);
        require(!known_[output], "the node", "computes a tensor twice", node.name);
        known_[output] = true;
      }
      for (const Body& body : node.bodies) {
        require(body.captured.size() <= body.network->inputs.size() &&
                    std::ranges::all_of(body.captured, [&](size_t i) { return i < node.inputs.size(); }),
                "the node", "has a body that captures a tensor the node does not read", node.name);
        check_invariants(*body.network);
      }
    }
    enter_and_leave_loops(network_.nodes.size());
  }

  void enter_and_leave_loops(size_t position) {
    for (const Loop& loop : network_.loops) {
      if (loop.end_node == position) {
        for (const Loop::Carried& carried : loop.carried) {
          require(known_[carried.after], "a loop", "carries a tensor it does not compute",
                  name(carried.after));
          if (carried.last != kAbsent) known_[carried.last] = true;
        }
        for (const Loop::Slice& written : loop.written) {
          require(known_[written.part], "a loop", "yields a tensor it does not compute", name(written.part));
          known_[written.whole] = true;
        }
      }
      if (loop.first_node != position) continue;
      require(loop.first_node < loop.end_node && loop.end_node <= network_.nodes.size() && loop.trips > 0,
              "a loop", "has no nodes");
      for (const Loop::Carried& carried : loop.carried) {
        require(known_[carried.first], "a loop", "carries a tensor that nothing computes",
                name(carried.first));
        known_[carried.before] = true;
      }
      for (const Loop::Slice& read : loop.read) {
        require(known_[read.whole], "a loop", "reads a tensor that nothing computes", name(read.whole));
        known_[read.part] = true;
      }
    }
  }

  const Network& network_;
  std::vector<bool> known_;  ///< by tensor: is it an input, or computed so far?
};

}  // namespace

void check_invariants(const Network& network) { Checker(network).check(); }

}  // namespace tunesmith::network
