#include "joined.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::network {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where the brackets end that begin at `open`.
size_t closing(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '(') ++depth;
    if ((text[at] == ']' || text[at] == ')') && --depth == 0) return at;
  }
  throw InternalError("an operator's statement has brackets that do not end");
}

/// The parts of "i0<2, min(i1, 3)" in another order.
std::string reordered(const std::string& indices, const std::vector<int32_t>& order) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : indices) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  if (parts.size() != order.size()) return indices;
  std::vector<std::string> result;
  for (const int32_t axis : order) result.push_back(parts[static_cast<size_t>(axis)]);
  return fmt::format("{}", fmt::join(result, ", "));
}

/// Another name for an array, and the order of its axes.
struct ArrayUse {
  std::string name;
  std::vector<int32_t> order;
};

/// The text with another name and another order of axes for each array, which is what stands before a '['.
std::string rewrite_arrays(const std::string& text,
                           const std::function<ArrayUse(const std::string&)>& use_of) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string word = text.substr(at, end - at);
    at = end;
    if (end == text.size() || text[end] != '[') {
      result += word;
      continue;
    }
    const ArrayUse use = use_of(word);
    result += use.name;
    if (use.order.empty()) continue;
    const size_t close = closing(text, end);
    const std::string indices = rewrite_arrays(text.substr(end + 1, close - end - 1), use_of);
    result += '[' + reordered(indices, use.order) + ']';
    at = close + 1;
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

/// Its first array is what it computes, the others are what it reads.
struct Statement {
  std::string text;
  std::vector<std::string> arrays;
};

/// An input and its line in the workload.
struct Given {
  TensorIndex tensor;
  std::string line;
};

/// Collects what a workload's text is made of.
class Joining {
 public:
  Joining(const std::function<bool(TensorIndex)>& is_output,
          const std::function<std::vector<int32_t>(TensorIndex)>& order_of,
          const std::function<std::vector<int64_t>(TensorIndex)>& strides_of)
      : is_output_(is_output), order_of_(order_of), strides_of_(strides_of) {}

  void add(const DefinedNode& defined, size_t number) {
    const std::vector<int32_t> own = order_of_own(*defined.node);
    std::istringstream lines(defined.computation.compute);
    for (std::string line; std::getline(lines, line);) {
      Statement statement;
      statement.text = rewrite_arrays(line, [&](const std::string& word) -> ArrayUse {
        ArrayUse use{fmt::format("n{}_{}", number, word), own};
        if (const auto input = number_after("in", word))
          use = {read(defined, *input), order_of(defined.node->inputs.at(*input))};
        // One that the node leaves out is an array that nothing reads.
        if (const auto output = number_after("out", word);
            output && defined.node->outputs.at(*output) != kAbsent)
          use = {write(defined, *output), order_of(defined.node->outputs.at(*output))};
        statement.arrays.push_back(use.name);
        return use;
      });
      statements_.push_back(std::move(statement));
    }
  }

  Joined finish(const std::string& name) {
    if (outputs_.empty()) return {};
    Joined made;
    std::set<std::string> needed;
    for (const TensorIndex output : outputs_) needed.insert(array_name(output));
    made.outputs = std::move(outputs_);
    const std::string outputs =
        fmt::format("{}", fmt::join(made.outputs | std::views::transform(array_name), ", "));
    // A node of several outputs has statements that nothing here reads.
    for (Statement& statement : statements_ | std::views::reverse) {
      if (!needed.contains(statement.arrays.front()))
        statement.text.clear();
      else
        needed.insert(statement.arrays.begin(), statement.arrays.end());
    }
    std::string inputs, statements;
    for (const Given& given : given_) {
      if (!needed.contains(array_name(given.tensor))) continue;
      made.inputs.push_back(given.tensor);
      inputs += given.line;
    }
    for (const Statement& statement : statements_) {
      if (!statement.text.empty()) statements += "  " + statement.text + "\n";
    }
    made.text =
        fmt::format("name: {}\n{}{}compute: |\n{}outputs: [{}]\n{}", name, inputs.empty() ? "" : "inputs:\n",
                    inputs, statements, outputs, strides_text(made));
    return made;
  }

 private:
  std::vector<int32_t> order_of(TensorIndex tensor) const {
    return order_of_ ? order_of_(tensor) : std::vector<int32_t>();
  }

  std::string strides_text(const Joined& made) const {
    std::string text;
    for (const std::vector<TensorIndex>* tensors : {&made.inputs, &made.outputs}) {
      for (const TensorIndex tensor : *tensors) {
        const std::vector<int64_t> strides = strides_of_ ? strides_of_(tensor) : std::vector<int64_t>();
        if (!strides.empty())
          text += fmt::format("  {}: [{}]\n", array_name(tensor), fmt::join(strides, ", "));
      }
    }
    return text.empty() ? "" : "strides:\n" + text;
  }

  std::vector<int32_t> order_of_own(const Node& node) const {
    for (const std::vector<TensorIndex>* tensors : {&node.outputs, &node.inputs}) {
      for (const TensorIndex tensor : *tensors) {
        std::vector<int32_t> order = tensor == kAbsent ? std::vector<int32_t>() : order_of(tensor);
        if (!order.empty()) return order;
      }
    }
    return {};
  }

  static Shape in_order(const Shape& shape, const std::vector<int32_t>& order) {
    if (order.empty()) return shape;
    Shape result;
    for (const int32_t axis : order) result.push_back(shape[static_cast<size_t>(axis)]);
    return result;
  }

  std::string read(const DefinedNode& defined, size_t input) {
    const TensorIndex tensor = defined.node->inputs.at(input);
    if (!computed_.contains(tensor) && known_.insert(tensor).second) {
      const NodeInput& given = *defined.inputs.at(input);
      given_.push_back(
          {tensor, fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", array_name(tensor),
                               fmt::join(in_order(array_shape(given.type.shape), order_of(tensor)), ", "),
                               given.type.dtype.str(), given.constant ? ", constant: true" : "")});
    }
    return array_name(tensor);
  }

  std::string write(const DefinedNode& defined, size_t output) {
    const TensorIndex tensor = defined.node->outputs.at(output);
    if (computed_.insert(tensor).second && is_output_(tensor)) outputs_.push_back(tensor);
    return array_name(tensor);
  }

  const std::function<bool(TensorIndex)>& is_output_;
  const std::function<std::vector<int32_t>(TensorIndex)>& order_of_;
  const std::function<std::vector<int64_t>(TensorIndex)>& strides_of_;
  std::set<TensorIndex> known_, computed_;
  std::vector<Given> given_;
  std::vector<Statement> statements_;
  std::vector<TensorIndex> outputs_;
};

}  // namespace

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({}@{})", node.name, node.op, node.version);
}

bool has_no_elements(const Tensor& tensor) {
  return tensor.shape && std::ranges::find(*tensor.shape, Extent(int64_t{0})) != tensor.shape->end();
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
            const std::function<bool(TensorIndex)>& is_output,
            const std::function<std::vector<int32_t>(TensorIndex)>& order_of,
            const std::function<std::vector<int64_t>(TensorIndex)>& strides_of) {
  Joining joining(is_output, order_of, strides_of);
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
