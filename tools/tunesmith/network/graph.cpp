#include "graph.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::cli {
namespace {

using network::TensorIndex;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string type_of(const network::Tensor& tensor) {
  std::vector<std::string> extents;
  for (const network::Extent& extent : tensor.shape.value_or(std::vector<network::Extent>())) {
    const auto* number = std::get_if<int64_t>(&extent);
    extents.push_back(number != nullptr ? std::to_string(*number) : std::get<std::string>(extent));
  }
  return fmt::format("{}[{}]", tensor.dtype ? tensor.dtype->str() : "?", fmt::join(extents, ", "));
}

class Graph {
 public:
  explicit Graph(const TaskedNetwork& tasked) : tasked_(tasked), network_(tasked.network) {}

  std::string text() {
    std::string text =
        fmt::format("digraph {} {{\n  node [shape=box, style=rounded];\n", quoted(network_.name));
    for (const TensorIndex input : network_.inputs) {
      text += outside(input);
      from_[input] = {tensor_id(input)};
    }
    // A region comes after the regions whose results it reads.
    for (size_t region = 0; region < tasked_.regions.size(); ++region) text += box(region);
    for (const TensorIndex output : network_.outputs) {
      const std::string id = tensor_id(output) + "_result";
      text += fmt::format("  {} [shape=ellipse, label={}];\n", id, quoted(tensor(output).name));
      text += arrows(output, id);
    }
    return text + "}\n";
  }

 private:
  const network::Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }

  static std::string tensor_id(TensorIndex index) { return fmt::format("t{}", index); }

  std::string outside(TensorIndex index) const {
    return fmt::format("  {} [shape=ellipse, label={}];\n", tensor_id(index), quoted(tensor(index).name));
  }

  /// A concatenated tensor has an arrow from each kernel that computes a part of it.
  std::string arrows(TensorIndex index, const std::string& to) const {
    auto found = from_.find(index);
    if (found == from_.end() && tensor(index).part) found = from_.find(tensor(index).part->whole);
    std::string text;
    if (found == from_.end()) return text;
    for (const std::string& from : found->second)
      text += fmt::format("  {} -> {} [label={}];\n", from, to, quoted(type_of(tensor(index))));
    return text;
  }

  std::string box(size_t region) {
    std::string nodes, edges;
    std::map<TensorIndex, std::string> inside;
    for (const size_t position : tasked_.nodes[region]) {
      const network::Node& node = network_.nodes[position];
      const std::string id = fmt::format("k{}_n{}", region + 1, position);
      nodes += fmt::format("    {} [label={}, tooltip={}];\n", id, quoted(node.op), quoted(node.name));
      for (const TensorIndex input : node.inputs) {
        if (input == network::kAbsent) continue;
        if (inside.contains(input))
          edges += fmt::format("  {} -> {};\n", inside.at(input), id);
        else
          edges += arrows(input, id);
      }
      for (const TensorIndex output : node.outputs) {
        if (output != network::kAbsent) inside[output] = id;
      }
    }
    for (const TensorIndex output : tasked_.regions[region].outputs) {
      from_[output] = {inside.at(output)};
      if (tensor(output).part) from_[tensor(output).part->whole].push_back(inside.at(output));
    }
    return fmt::format("  subgraph cluster_{} {{\n    label={};\n{}  }}\n{}", region + 1,
                       quoted(fmt::format("{}: task {}, {}", region + 1, tasked_.task_of[region] + 1,
                                          title_of(tasked_.regions[region].workload))),
                       nodes, edges);
  }

  const TaskedNetwork& tasked_;
  const network::Network& network_;
  std::map<TensorIndex, std::vector<std::string>> from_;  // the kernels that compute a tensor
};

}  // namespace

std::string to_dot(const TaskedNetwork& tasked) { return Graph(tasked).text(); }

}  // namespace tunesmith::cli
