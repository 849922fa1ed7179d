// Sequences and optional values, whose tensors are known one by one, so that consumers read these directly.
#include <fmt/format.h>

#include "graph.h"

namespace tunesmith::operators_onnx {
namespace {

/// An empty optional value is a sequence with kAbsent as its element; any other is its value.
bool is_nothing(const NodeReader& node, size_t input) {
  return !node.has(input) ||
         (node.is_sequence(input) && node.elements(input) == std::vector<TensorIndex>{kAbsent});
}

std::vector<TensorIndex> elements_of(const NodeReader& node, size_t input) {
  node.refuse_unless(!is_nothing(node, input), "an input is an optional value without one");
  return node.elements(input);
}

/// A position among `count`, counted from the end if negative; with `behind` also that behind the last.
size_t place(const NodeReader& node, size_t input, size_t count, bool behind = false) {
  const int64_t given = node.integer_of(input, "position");
  const auto end = static_cast<int64_t>(count);
  if (given < -end || given >= end + (behind ? 1 : 0))
    node.refuse(fmt::format("there is no place {}", given), fmt::format("there are {}", end));
  return static_cast<size_t>(given < 0 ? given + end : given);
}

TensorIndex sequence_construct(const NodeReader& node, Graph& graph) {
  return graph.sequence(node.node().inputs);
}

TensorIndex sequence_empty(const NodeReader& node, Graph& graph) {
  node.ignore("dtype");
  return graph.sequence({});
}

TensorIndex sequence_insert(const NodeReader& node, Graph& graph) {
  std::vector<TensorIndex> elements = elements_of(node, 0);
  const size_t at = node.has(2) ? place(node, 2, elements.size(), true) : elements.size();
  elements.insert(elements.begin() + static_cast<int64_t>(at), node.node().inputs.at(1));
  return graph.sequence(std::move(elements));
}

TensorIndex sequence_erase(const NodeReader& node, Graph& graph) {
  std::vector<TensorIndex> elements = elements_of(node, 0);
  node.refuse_unless(!elements.empty(), "the sequence is empty");
  const size_t at = node.has(1) ? place(node, 1, elements.size()) : elements.size() - 1;
  elements.erase(elements.begin() + static_cast<int64_t>(at));
  return graph.sequence(std::move(elements));
}

TensorIndex sequence_at(const NodeReader& node, Graph& /*graph*/) {
  const std::vector<TensorIndex> elements = elements_of(node, 0);
  return elements[place(node, 1, elements.size())];
}

TensorIndex sequence_length(const NodeReader& node, Graph& graph) {
  return graph.integer(static_cast<int64_t>(elements_of(node, 0).size()));
}

/// Splits the axis as the input says, or into single indices.
TensorIndex split_to_sequence(const NodeReader& node, Graph& graph) {
  const Shape& shape = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", 0), shape.size());
  const bool keeps_axis = node.flag("keepdims", true) || node.has(1);
  std::vector<int64_t> parts(static_cast<size_t>(shape[axis]), 1);
  if (node.has(1)) {
    parts = node.integers_of(1, "split");
    if (node.rank(1) == 0) {
      const int64_t size = parts[0];
      node.refuse_unless(size > 0, "input 1 ('split') is not above 0");
      parts.assign(static_cast<size_t>(shape[axis] / size), size);
      if (shape[axis] % size != 0) parts.push_back(shape[axis] % size);
    }
  }
  std::vector<TensorIndex> elements;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    node.refuse_unless(part >= 0 && part <= shape[axis] - begin, "its parts are not those of the axis");
    const auto number = static_cast<int64_t>(axis);
    const TensorIndex x = node.input(0);
    elements.push_back(keeps_axis ? graph.slice(x, number, begin, begin + part)
                                  : graph.take(x, number, begin));
    begin += part;
  }
  node.refuse_unless(begin == shape[axis], "its parts are not those of the axis");
  return graph.sequence(std::move(elements));
}

TensorIndex concat_from_sequence(const NodeReader& node, Graph& graph) {
  const std::vector<TensorIndex> elements = elements_of(node, 0);
  node.refuse_unless(!elements.empty(), "the sequence is empty");
  node.refuse_unless(node.has_attribute("axis"), "attribute 'axis' is missing");
  const int64_t axis = node.integer("axis", 0);
  return node.flag("new_axis", false) ? graph.stack(elements, axis) : graph.concat(elements, axis);
}

/// Applies the body to each element of the first input. Other inputs are sequences of the same length, or the
/// same tensor each time.
bool sequence_map(const NodeReader& node, network::Expansion& to) {
  const size_t count = elements_of(node, 0).size();
  std::vector<std::vector<TensorIndex>> made(node.output_count());
  for (size_t i = 0; i < count; ++i) {
    std::vector<TensorIndex> inputs;
    for (size_t k = 0; k < node.own_count(); ++k) {
      node.refuse_unless(!node.is_sequence(k) || node.elements(k).size() == count,
                         "its sequences have different lengths");
      inputs.push_back(node.is_sequence(k) ? node.elements(k)[i] : node.input(k));
    }
    const std::vector<TensorIndex> outputs = to.add_body(node.body("body"), inputs);
    node.refuse_unless(outputs.size() == made.size(), "its body gives another number of outputs");
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back(outputs[k]);
  }
  for (size_t k = 0; k < made.size(); ++k) to.give(k, to.make_sequence(std::move(made[k])));
  return true;
}

TensorIndex make_optional(const NodeReader& node, Graph& graph) {
  node.ignore("type");
  return node.given_count() > 0 ? node.input(0) : graph.sequence({kAbsent});
}

TensorIndex optional_has_element(const NodeReader& node, Graph& graph) {
  return graph.truth(!is_nothing(node, 0));
}

TensorIndex optional_get_element(const NodeReader& node, Graph& /*graph*/) {
  node.refuse_unless(!is_nothing(node, 0), "the optional value has none");
  return node.input(0);
}

}  // namespace

std::vector<Row> sequence_operators() {
  const auto row = [](std::string_view name, int64_t since, auto make) {
    return Row{name, since, never_defined, true, false, giving(make)};
  };
  return {row("SequenceConstruct", 11, sequence_construct),
          row("SequenceEmpty", 11, sequence_empty),
          row("SequenceInsert", 11, sequence_insert),
          row("SequenceErase", 11, sequence_erase),
          row("SequenceAt", 11, sequence_at),
          row("SequenceLength", 11, sequence_length),
          row("SplitToSequence", 11, split_to_sequence),
          row("ConcatFromSequence", 11, concat_from_sequence),
          Row{"SequenceMap", 17, never_defined, true, false, sequence_map},
          row("Optional", 15, make_optional),
          row("OptionalHasElement", 15, optional_has_element),
          row("OptionalGetElement", 15, optional_get_element)};
}

}  // namespace tunesmith::operators_onnx
