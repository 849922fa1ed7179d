#include <map>
#include <set>

#include <fmt/format.h>

#include "joined.h"
#include "loops/repetition.h"
#include "parts.h"
#include "passes.h"

namespace tunesmith::network {
namespace {

class Placer {
 public:
  explicit Placer(Network& network) : network_(network) {
    for (const Tensor& tensor : network.tensors) names_.insert(tensor.name);
    for (const Node& node : network.nodes) names_.insert(node.name);
  }

  void run() {
    std::vector<Node> nodes = std::move(network_.nodes);
    network_.nodes.clear();
    for (Node& node : nodes) {
      if (is_repetition(node))
        place(node);
      else
        network_.nodes.push_back(std::move(node));
    }
  }

 private:
  Tensor& tensor(TensorIndex index) { return network_.tensor(index); }

  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !names_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  TensorIndex add(Tensor added) {
    added.name = unique(added.name);
    return network_.add(std::move(added));
  }

  /// Adds the body's nodes. The loop's tensors are not parts of others yet.
  Loop inlined(const Node& node, const Repetition& repetition) {
    const Network& body = *repetition.body;
    const size_t sliced = sliced_inputs(repetition);
    std::map<TensorIndex, TensorIndex> outside{{kAbsent, kAbsent}};
    for (size_t i = repetition.carried + sliced; i < node.inputs.size(); ++i)
      outside[body.inputs[i]] = node.inputs[i];
    for (size_t i = 0; i < body.tensors.size(); ++i) {
      const auto index = static_cast<TensorIndex>(i);
      if (outside.contains(index)) continue;
      Tensor copy = body.tensors[i];
      copy.name = node.name + "/" + copy.name;
      outside[index] = add(std::move(copy));
    }
    for (const auto& [inner, index] : outside)
      if (inner != kAbsent && tensor(index).part && body.tensor(inner).part)
        tensor(index).part->whole = outside.at(tensor(index).part->whole);
    Loop loop{network_.nodes.size(), network_.nodes.size() + body.nodes.size(), repetition.trips, {}, {}, {}};
    for (Node each : body.nodes) {
      each.name = unique(node.name + "/" + each.name);
      for (TensorIndex& input : each.inputs) input = outside.at(input);
      for (TensorIndex& output : each.outputs) output = outside.at(output);
      network_.nodes.push_back(std::move(each));
    }
    for (size_t i = 0; i < repetition.carried; ++i)
      loop.carried.push_back({node.inputs[i], outside.at(body.inputs[i]), outside.at(body.outputs[i]),
                              i < node.outputs.size() ? node.outputs[i] : kAbsent});
    for (size_t i = 0; i < sliced; ++i)
      loop.read.push_back({node.inputs[repetition.carried + i],
                           outside.at(body.inputs[repetition.carried + i]), repetition.backwards[i] != 0});
    for (size_t i = repetition.carried; i < node.outputs.size(); ++i)
      loop.written.push_back({node.outputs[i], outside.at(body.outputs[i]),
                              repetition.backwards[sliced + i - repetition.carried] != 0});
    return loop;
  }

  void place(const Node& node) {
    Loop loop = inlined(node, repetition_of(node));
    for (const Loop::Carried& carried : loop.carried) place(carried, loop.trips, node.name);
    for (const std::vector<Loop::Slice>* slices : {&loop.read, &loop.written})
      for (const Loop::Slice& slice : *slices) place(slice, loop.trips);
    network_.loops.push_back(std::move(loop));
  }

  void place(const Loop::Carried& carried, int64_t trips, const std::string& name) {
    Tensor both = tensor(carried.before);
    both.name = name + "/carried";
    both.shape->insert(both.shape->begin(), Extent(int64_t{2}));
    both.order.clear();
    const TensorIndex whole = add(std::move(both));
    const Part first = place_of(network_, carried.before);
    const int64_t elements = element_count(lying_shape(tensor(carried.before)));
    tensor(carried.first).part = Part{whole, 0, first.strides};
    tensor(carried.before).part = Part{whole, 0, first.strides, elements, 2};
    tensor(carried.after).part = Part{whole, elements, first.strides, -elements, 2};
    if (carried.last != kAbsent) tensor(carried.last).part = Part{whole, trips % 2 * elements, first.strides};
  }

  void place(const Loop::Slice& slice, int64_t trips) {
    Part part = place_of(network_, slice.whole);
    const int64_t row = part.strides.front();
    part.strides.erase(part.strides.begin());
    part.begin += slice.backwards ? (trips - 1) * row : 0;
    part.advance = slice.backwards ? -row : row;
    part.period = trips;
    tensor(slice.part).part = std::move(part);
  }

  Network& network_;
  std::set<std::string> names_;
};

}  // namespace

void place_loops(Network& network, const PassOptions& /*options*/) { Placer(network).run(); }

}  // namespace tunesmith::network
