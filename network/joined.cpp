#include "joined.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::network {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The text with another name for each array: what stands before a '['.
std::string rename_arrays(const std::string& text,
                          const std::function<std::string(const std::string&)>& rename) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string word = text.substr(at, end - at);
    result += end < text.size() && text[end] == '[' ? rename(word) : word;
    at = end;
  }
  return result;
}

std::string array_name(TensorIndex tensor) { return fmt::format("v{}", tensor); }

/// The number in "in12", where the word begins with `kind`.
std::optional<size_t> number_after(std::string_view kind, const std::string& word) {
  if (!word.starts_with(kind) || word.size() == kind.size()) return std::nullopt;
  size_t number = 0;
  for (const char c : word.substr(kind.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<size_t>(c - '0');
  }
  return number;
}

/// Collects what a workload's text is made of.
class Joining {
 public:
  explicit Joining(const std::function<bool(TensorIndex)>& is_output) : is_output_(is_output) {}

  void add(const DefinedNode& defined, size_t number) {
    statements_ += rename_arrays(defined.computation.compute, [&](const std::string& word) {
      if (const auto input = number_after("in", word)) return read(defined, *input);
      if (const auto output = number_after("out", word)) return write(defined, *output);
      return fmt::format("n{}_{}", number, word);
    });
  }

  Joined finish(const std::string& name) {
    if (made_.outputs.empty()) return std::move(made_);
    std::string outputs;
    for (const TensorIndex output : made_.outputs)
      outputs += (outputs.empty() ? "" : ", ") + array_name(output);
    std::string indented = "  ";
    for (size_t i = 0; i + 1 < statements_.size(); ++i) {
      indented += statements_[i];
      if (statements_[i] == '\n') indented += "  ";
    }
    made_.text = fmt::format("name: {}\n{}{}compute: |\n{}\noutputs: [{}]\n", name,
                             inputs_.empty() ? "" : "inputs:\n", inputs_, indented, outputs);
    return std::move(made_);
  }

 private:
  std::string read(const DefinedNode& defined, size_t input) {
    const TensorIndex tensor = defined.node->inputs.at(input);
    if (!computed_.contains(tensor) && given_.insert(tensor).second) {
      const NodeInput& given = *defined.inputs.at(input);
      made_.inputs.push_back(tensor);
      inputs_ += fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", array_name(tensor),
                             fmt::join(array_shape(given.type.shape), ", "), given.type.dtype.str(),
                             given.constant ? ", constant: true" : "");
    }
    return array_name(tensor);
  }

  std::string write(const DefinedNode& defined, size_t output) {
    const TensorIndex tensor = defined.node->outputs.at(output);
    if (computed_.insert(tensor).second && is_output_(tensor)) made_.outputs.push_back(tensor);
    return array_name(tensor);
  }

  const std::function<bool(TensorIndex)>& is_output_;
  std::set<TensorIndex> given_, computed_;
  std::string statements_, inputs_;
  Joined made_;
};

}  // namespace

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}@{})", node.name, node.op, node.version);
}

Shape array_shape(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

DefinedNode define(const Node& node, std::vector<std::optional<NodeInput>> inputs) {
  if (!node.definition) throw UserError(describe(node) + " has no definition: the network is not resolved");
  const NodeView view{node, std::move(inputs)};
  try {
    Computation computation = node.definition->define(view);
    return {&node, view.inputs, std::move(computation)};
  } catch (const NeedsConstant& error) {
    throw NeedsConstant(error.input(), describe(node) + ": " + error.what());
  } catch (const UserError& error) {
    throw UserError(describe(node) + ": " + error.what());
  }
}

NodeInput input_of(const Tensor& tensor) {
  if (!tensor.dtype || !tensor.shape)
    throw UserError(
        fmt::format("the {} of tensor '{}' is not known", tensor.dtype ? "shape" : "type", tensor.name));
  TensorType type{*tensor.dtype, {}};
  for (const Extent& extent : *tensor.shape) {
    const auto* number = std::get_if<int64_t>(&extent);
    if (!number)
      throw UserError(fmt::format("tensor '{}' has an extent '{}' without a value", tensor.name,
                                  std::get<std::string>(extent)));
    type.shape.push_back(*number);
  }
  return {std::move(type), tensor.constant.get()};
}

std::vector<std::optional<NodeInput>> inputs_of(const Network& network, const Node& node) {
  std::vector<std::optional<NodeInput>> inputs;
  for (const TensorIndex input : node.inputs)
    inputs.push_back(input == kAbsent ? std::nullopt
                                      : std::optional(input_of(network.tensors[static_cast<size_t>(input)])));
  return inputs;
}

Joined join(const std::string& name, std::span<const DefinedNode> nodes,
            const std::function<bool(TensorIndex)>& is_output) {
  Joining joining(is_output);
  for (size_t i = 0; i < nodes.size(); ++i) joining.add(nodes[i], i);
  return joining.finish(name);
}

Workload instantiate(const Joined& joined, std::span<const DefinedNode> nodes) {
  const std::string first = describe(*nodes.front().node);
  try {
    return WorkloadDefinition::parse(joined.text, first).instantiate();
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: its statements are refused: {}", first, error.what()));
  }
}

}  // namespace tunesmith::network
