#include "expander.h"

#include <fmt/format.h>

#include "joined.h"

namespace tunesmith::network {
namespace {

// As many as an importer takes.
constexpr size_t kMaxNodes = 200'000;

}  // namespace

/// What one node becomes.
class Expander::OfNode final : public Expansion {
 public:
  OfNode(Expander& all, const Node& node, std::vector<Node>& made) : all_(all), node_(node), made_(made) {}

  TensorIndex make_tensor() override { return all_.add_tensor(next_name()); }

  TensorIndex make_constant(std::shared_ptr<const Constant> constant) override {
    const TensorIndex index = make_tensor();
    Tensor& tensor = all_.network_.tensors[static_cast<size_t>(index)];
    tensor.dtype = constant->dtype;
    tensor.shape = std::vector<Extent>(constant->shape.begin(), constant->shape.end());
    tensor.constant = std::move(constant);
    return index;
  }

  TensorIndex make_sequence(std::vector<TensorIndex> elements) override {
    const TensorIndex index = make_tensor();
    all_.network_.tensors[static_cast<size_t>(index)].elements = std::move(elements);
    return index;
  }

  void add(Node node) override {
    if (++all_.made_ > kMaxNodes)
      throw UserError(fmt::format("it and others like it become more than {} nodes", kMaxNodes));
    if (node.name.empty()) node.name = all_.unique(next_name());
    made_.push_back(std::move(node));
  }

  std::vector<TensorIndex> add_body(const Body& body, const std::vector<TensorIndex>& inputs) override {
    const Network& inner = *body.network;
    const std::string prefix = next_name();
    std::map<TensorIndex, TensorIndex> outside{{kAbsent, kAbsent}};
    const size_t own = inner.inputs.size() - body.captured.size();
    if (inputs.size() != own)
      throw UserError(
          fmt::format("attribute '{}' takes {} inputs, and it is given {}", body.name, own, inputs.size()));
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

  void give(size_t output, TensorIndex tensor) override {
    if (output >= node_.outputs.size() || node_.outputs[output] == kAbsent) return;
    Tensor& given = all_.network_.tensors[static_cast<size_t>(node_.outputs[output])];
    const Tensor& from = all_.network_.tensors[static_cast<size_t>(tensor)];
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

  /// Constants are there once, however often the body is.
  TensorIndex tensor_of_body(const Network& inner, TensorIndex index, const std::string& prefix) {
    const Tensor& tensor = inner.tensors[static_cast<size_t>(index)];
    std::map<TensorIndex, TensorIndex>& known = all_.constants_[&inner];
    if (const auto found = known.find(index); found != known.end()) return found->second;
    const TensorIndex made = all_.add_tensor(prefix + "/" + tensor.name);
    if (!tensor.constant) return made;
    Tensor& outer = all_.network_.tensors[static_cast<size_t>(made)];
    outer.dtype = tensor.dtype;
    outer.shape = tensor.shape;
    outer.constant = tensor.constant;
    outer.code = tensor.code;
    return known[index] = made;
  }

  Expander& all_;
  const Node& node_;
  std::vector<Node>& made_;
};

bool Expander::expand(const Node& node, const NodeView& view, std::vector<Node>& made) {
  OfNode expansion(*this, node, made);
  try {
    return node.definition->expand(view, expansion);
  } catch (const NeedsConstant& error) {
    throw NeedsConstant(error.input(), describe(node) + ": " + error.what());
  } catch (const UserError& error) {
    throw UserError(describe(node) + ": " + error.what());
  }
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
  network_.tensors.push_back({unique(name), std::nullopt, std::nullopt, nullptr});
  return static_cast<TensorIndex>(network_.tensors.size() - 1);
}

}  // namespace tunesmith::network
