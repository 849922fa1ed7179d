#include "expander.h"

#include <algorithm>

#include <fmt/format.h>

#include "counting.h"
#include "joined.h"
#include "loops/repetition.h"
#include "values.h"

namespace tunesmith::network {
namespace {

// The importers' limit.
constexpr size_t kMaxNodes = 200'000;
constexpr int64_t kMaxTrips = 2048;
constexpr int64_t kOnnxVersion = 18;  // of the operators that take rows and join them

}  // namespace

/// Collects the nodes that replace one node.
class Expander::OfNode final : public Expansion {
 public:
  OfNode(Expander& all, const Node& node, const std::deque<Node>& behind, std::vector<Node>& made)
      : all_(all), node_(node), behind_(behind), made_(made) {}

  TensorIndex make_tensor() override { return all_.add_tensor(next_name()); }

  TensorIndex make_constant(std::shared_ptr<const Constant> constant) override {
    const TensorIndex index = make_tensor();
    Tensor& tensor = all_.network_.tensor(index);
    tensor.dtype = constant->dtype;
    tensor.shape = std::vector<Extent>(constant->shape.begin(), constant->shape.end());
    tensor.constant = std::move(constant);
    return index;
  }

  TensorIndex make_sequence(std::vector<TensorIndex> elements) override {
    const TensorIndex index = make_tensor();
    all_.network_.tensor(index).elements = std::move(elements);
    return index;
  }

  void add(Node node) override {
    if (++all_.made_ > kMaxNodes)
      throw UserError(fmt::format("expanded, it and similar nodes exceed {} nodes", kMaxNodes));
    if (node.name.empty()) node.name = all_.unique(next_name());
    made_.push_back(std::move(node));
  }

  std::vector<TensorIndex> add_body(const Body& body, const std::vector<TensorIndex>& inputs) override {
    const Network& inner = *body.network;
    const std::string prefix = next_name();
    std::map<TensorIndex, TensorIndex> outside{{kAbsent, kAbsent}};
    const size_t own = inner.inputs.size() - body.captured.size();
    if (inputs.size() != own)
      throw UserError(fmt::format("attribute '{}' takes {} inputs, found {}", body.name, own, inputs.size()));
    for (size_t i = 0; i < inner.inputs.size(); ++i)
      outside[inner.inputs[i]] = i < own ? inputs[i] : node_.inputs.at(body.captured[i - own]);
    if (!all_.constants_.contains(&inner)) all_.bodies_.push_back(body.network);
    const auto tensor_of = [&](TensorIndex index) {
      const auto [place, is_new] = outside.try_emplace(index, kAbsent);
      if (is_new) place->second = tensor_of_body(inner, index, prefix);
      return place->second;
    };
    for (const Node& each : inner.nodes) {
      Node node = each;
      node.name = all_.unique(prefix + "/" + each.name);
      for (TensorIndex& input : node.inputs) input = tensor_of(input);
      for (TensorIndex& output : node.outputs) output = tensor_of(output);
      add(std::move(node));
    }
    std::vector<TensorIndex> outputs;
    for (const TensorIndex output : inner.outputs) outputs.push_back(tensor_of(output));
    return outputs;
  }

  std::vector<TensorIndex> repeat(const Repetition& repetition, std::vector<TensorIndex> inputs) override {
    std::vector<TensorIndex> outputs;
    for (size_t i = 0; i < repetition.body->outputs.size(); ++i) outputs.push_back(make_tensor());
    add(repeat_node(all_.unique(next_name()), repetition, std::move(inputs), outputs));
    return outputs;
  }

  TensorIndex integers(const Shape& shape, int64_t value) {
    tunesmith::Tensor made = tunesmith::Tensor::zeros(kI64, shape);
    made.set_int(0, value);
    return make_constant(to_constant(std::move(made)));
  }
  TensorIndex add_onnx(const std::string& op, std::vector<TensorIndex> inputs,
                       std::map<std::string, Attribute> attributes) {
    const TensorIndex made = make_tensor();
    add({"", op, kOnnxVersion, std::move(attributes), std::move(inputs), {made}, nullptr});
    return made;
  }

  TensorIndex counted(TensorIndex tensor, size_t axis, TensorIndex by) override {
    const TensorIndex made = make_tensor();
    add(counted_node("", tensor, {axis, by}, made));
    return made;
  }

  TensorIndex whole(TensorIndex tensor) override {
    const TensorIndex made = make_tensor();
    add(whole_node("", tensor, made));
    return made;
  }

  std::optional<std::vector<const Node*>> readers(TensorIndex tensor) const override {
    const auto& outputs = all_.network_.outputs;
    if (std::ranges::find(outputs, tensor) != outputs.end()) return std::nullopt;
    std::vector<const Node*> found;
    for (const Node& node : behind_)
      if (std::ranges::find(node.inputs, tensor) != node.inputs.end()) found.push_back(&node);
    return found;
  }

  const Constant* values(TensorIndex tensor) const override {
    return all_.network_.tensor(tensor).constant.get();
  }

  void give(size_t output, TensorIndex tensor) override {
    if (output >= node_.outputs.size() || node_.outputs[output] == kAbsent) return;
    Tensor& given = all_.network_.tensor(node_.outputs[output]);
    const Tensor& from = all_.network_.tensor(tensor);
    if (from.elements) {
      given.elements = from.elements;
      return;
    }
    Node identity{"", "Identity", kVersionOfIdentity, {}, {tensor}, {node_.outputs[output]}, nullptr};
    add(std::move(identity));
  }

 private:
  static constexpr int64_t kVersionOfIdentity = 16;

  std::string next_name() { return fmt::format("{}/{}", node_.name, all_.numbers_[node_.name]++); }

  /// A body's constants exist only once, however often the body is used.
  TensorIndex tensor_of_body(const Network& inner, TensorIndex index, const std::string& prefix) {
    const Tensor& tensor = inner.tensor(index);
    std::map<TensorIndex, TensorIndex>& known = all_.constants_[&inner];
    if (const auto found = known.find(index); found != known.end()) return found->second;
    const TensorIndex made = all_.add_tensor(prefix + "/" + tensor.name);
    if (!tensor.constant) return made;
    Tensor& outer = all_.network_.tensor(made);
    outer.dtype = tensor.dtype;
    outer.shape = tensor.shape;
    outer.constant = tensor.constant;
    outer.code = tensor.code;
    return known[index] = made;
  }

  Expander& all_;
  const Node& node_;
  const std::deque<Node>& behind_;
  std::vector<Node>& made_;
};

bool Expander::expand(const Node& node, const NodeView& view, const std::deque<Node>& behind,
                      std::vector<Node>& made) {
  OfNode expansion(*this, node, behind, made);
  try {
    return node.definition->expand(view, expansion);
  } catch (const NeedsConstant& error) {
    throw NeedsConstant(error.input(), describe(node) + ": " + error.what());
  } catch (const UserError& error) {
    throw UserError(describe(node) + ": " + error.what());
  }
}

void Expander::unroll(const Node& node, const std::string& why, std::vector<Node>& made) {
  const Repetition repetition = repetition_of(node);
  if (repetition.trips > kMaxTrips)
    throw UserError(
        fmt::format("{}: its {} iterations cannot be a loop: {}", describe(node), repetition.trips, why),
        fmt::format("at most {} are unrolled", kMaxTrips));
  const std::deque<Node> none;  // it asks no operator
  OfNode to(*this, node, none, made);
  const size_t carried = repetition.carried, sliced = sliced_inputs(repetition);
  const std::vector<TensorIndex>& inputs = node.inputs;
  std::vector<TensorIndex> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
  std::vector<std::vector<TensorIndex>> rows(repetition.body->outputs.size() - carried);
  const auto row = [&](size_t slice, int64_t trip) {
    return repetition.backwards[slice] != 0 ? repetition.trips - 1 - trip : trip;
  };
  for (auto& of_output : rows) of_output.resize(static_cast<size_t>(repetition.trips));
  for (int64_t trip = 0; trip < repetition.trips; ++trip) {
    std::vector<TensorIndex> given = state;
    for (size_t i = 0; i < sliced; ++i)
      given.push_back(to.add_onnx("Gather", {inputs[carried + i], to.integers({}, row(i, trip))},
                                  {{"axis", int64_t{0}}}));
    given.insert(given.end(), inputs.begin() + static_cast<std::ptrdiff_t>(carried + sliced), inputs.end());
    const std::vector<TensorIndex> results = to.add_body({"body", repetition.body, {}}, given);
    state.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(carried));
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i][static_cast<size_t>(row(sliced + i, trip))] =
          to.add_onnx("Unsqueeze", {results[carried + i], to.integers({1}, 0)}, {});
  }
  for (size_t i = 0; i < carried; ++i) to.give(i, state[i]);
  for (size_t i = 0; i < rows.size(); ++i)
    to.give(carried + i, to.add_onnx("Concat", std::move(rows[i]), {{"axis", int64_t{0}}}));
}

std::string Expander::unique(const std::string& wanted) {
  if (names_.empty()) {
    for (const Tensor& tensor : network_.tensors) names_.insert(tensor.name);
    for (const Node& node : network_.nodes) names_.insert(node.name);
  }
  std::string name = wanted;
  for (int number = 2; !names_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

TensorIndex Expander::add_tensor(const std::string& name) {
  return network_.add({unique(name), std::nullopt, std::nullopt, nullptr});
}

}  // namespace tunesmith::network
