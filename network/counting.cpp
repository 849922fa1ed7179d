#include "counting.h"

#include <algorithm>

#include <fmt/format.h>

#include "axis_use.h"
#include "copy.h"
#include "loops/repetition.h"
#include "tunesmith/workload/statements.h"
#include "unique_name.h"
#include "values.h"

namespace tunesmith::network {
namespace {

/// Copies its first input.
class CopyFirstOperator final : public Operator {
 public:
  Computation define(const NodeView& view) const override {
    const TensorType& type = view.inputs.at(0)->type;
    if (element_count(type.shape) == 0) return {{type}, {to_constant({type.dtype, type.shape, {}})}, ""};
    return {{type}, {}, copy_statement(type.shape)};
  }
};

const CopyFirstOperator kCounted, kWhole;

using workload::Syntax;

/// Are they equal, whatever their places in the text?
bool alike(const Syntax* a, const Syntax* b);

bool alike(const std::vector<workload::AxisSyntax>& a, const std::vector<workload::AxisSyntax>& b) {
  return std::ranges::equal(a, b, [](const workload::AxisSyntax& left, const workload::AxisSyntax& right) {
    return left.name == right.name && alike(left.extent.get(), right.extent.get());
  });
}

bool alike(const Syntax* a, const Syntax* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->kind == b->kind && a->name == b->name && a->integer == b->integer && a->real == b->real &&
         alike(a->axes, b->axes) &&
         std::ranges::equal(a->args, b->args, [](const auto& left, const auto& right) {
           return alike(left.get(), right.get());
         });
}

bool reads(const Syntax& value, const std::string& array) {
  return (value.kind == workload::SyntaxKind::Access && value.name == array) ||
         std::ranges::any_of(value.args, [&](const auto& part) { return reads(*part, array); });
}

std::vector<workload::StatementSyntax> statements_of(const Computation& computation) {
  if (computation.compute.empty()) return {};
  return workload::parse_statements(computation.compute, "statements");
}

bool reads_input(const Computation& computation, size_t input) {
  const std::string array = fmt::format("in{}", input);
  return std::ranges::any_of(statements_of(computation),
                             [&](const auto& statement) { return reads(*statement.value, array); });
}

/// Do the statements differ in nothing but the extents of the arrays that they compute?
bool compute_alike(const Computation& a, const Computation& b) {
  return std::ranges::equal(statements_of(a), statements_of(b), [](const auto& left, const auto& right) {
    return left.target == right.target && alike(left.value.get(), right.value.get());
  });
}

bool same_constants(const std::shared_ptr<const Constant>& a, const std::shared_ptr<const Constant>& b) {
  return !a == !b && (!a || std::ranges::equal(a->bytes, b->bytes));
}

bool same(const Computation& a, const Computation& b) {
  return a.compute == b.compute && std::ranges::equal(a.constants, b.constants, same_constants) &&
         std::ranges::equal(a.outputs, b.outputs, {}, &TensorType::shape, &TensorType::shape);
}

/// The axis along which `longer` has one element more; nothing if they differ in anything else.
std::optional<size_t> longer_axis(const Shape& shape, const Shape& longer) {
  if (shape.size() != longer.size()) return std::nullopt;
  const auto differs = std::ranges::mismatch(shape, longer);
  if (differs.in1 == shape.end() || *differs.in2 != *differs.in1 + 1 ||
      !std::equal(differs.in1 + 1, shape.end(), differs.in2 + 1))
    return std::nullopt;
  return differs.in1 - shape.begin();
}

/// The computation for inputs of these types; nothing if they are refused.
std::optional<Computation> computation_of(const Node& node, std::vector<std::optional<NodeInput>> inputs) {
  try {
    return define(node, std::move(inputs)).computation;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

Node counted_node(std::string name, TensorIndex from, Count count, TensorIndex to) {
  return {std::move(name),
          "tunesmith.Counted",
          1,
          {{"axis", static_cast<int64_t>(count.axis)}},
          {from, count.by},
          {to},
          &kCounted};
}

Node whole_node(std::string name, TensorIndex from, TensorIndex to) {
  return {std::move(name), "tunesmith.Whole", 1, {}, {from}, {to}, &kWhole};
}

std::optional<Count> Counting::of(TensorIndex tensor) const {
  const auto found = counts_.find(tensor);
  return found == counts_.end() ? std::nullopt : std::optional(found->second);
}

void Counting::refuse(const DefinedNode& defined, const Varied& varied, const std::string& why) const {
  const TensorIndex input = defined.node->inputs[varied.first];
  throw UserError(fmt::format("{}: its input '{}' has an extent that is data, at most {}: {}",
                              describe(*defined.node), network_.tensor(input).name, varied.bound, why));
}

std::optional<Counting::Varied> Counting::varied_inputs(const DefinedNode& defined) const {
  std::optional<Varied> varied;
  for (size_t i = 0; i < defined.inputs.size(); ++i) {
    const std::optional<Count> count = of(defined.node->inputs[i]);
    const CountedValues::Values* values = values_.replaced_by(defined.node->inputs[i]);
    if (!count && values == nullptr) continue;
    const TensorIndex by = count ? count->by : values->by;
    const int64_t bound = count ? defined.inputs[i]->type.shape[count->axis] : values->bound;
    if (!varied) varied = Varied{by, bound, i, defined.inputs, false, defined.inputs};
    if (varied->by != by || varied->bound != bound)
      refuse(defined, *varied, "another input has another such extent");
    if (count) {
      ++varied->longer[i]->type.shape[count->axis];
      varied->of_one[i]->type.shape[count->axis] = 1;
    } else {
      varied->longer[i]->constant = values->beyond.get();
      varied->of_one[i]->constant = values->one.get();
    }
    varied->has_values |= values != nullptr;
  }
  return varied;
}

bool Counting::pass_through(size_t node, const DefinedNode& defined) {
  const Node& of_node = *defined.node;
  if (of_node.definition == &kWhole) return true;
  if (of_node.definition == &kCounted) {
    const auto axis = static_cast<size_t>(std::get<int64_t>(of_node.attributes.at("axis")));
    const TensorIndex by = same_.first(of_node.inputs[1], node);
    counts_[of_node.outputs[0]] = {axis, by};
    values_.add_count(by, defined.inputs[0]->type.shape[axis]);
    return !defined.computation.constants.empty();  // there is no element
  }
  const std::optional<Varied> varied = varied_inputs(defined);
  if (!varied) {
    values_.derive(defined);
    return true;
  }
  const std::string needs = "it does not compute the elements along this axis independently of each other";
  if (is_repetition(of_node)) refuse(defined, *varied, "it is read in a loop");
  const std::optional<Computation> longer = computation_of(of_node, varied->longer);
  if (!longer || !follows_values(defined, *longer, *varied)) refuse(defined, *varied, needs);
  bool is_read = false;
  for (size_t i = 0; i < of_node.inputs.size(); ++i)
    is_read |= of(of_node.inputs[i]) && reads_input(defined.computation, i);
  // Where only the type is read; a value may have been clamped.
  if (!is_read && !varied->has_values && same(defined.computation, *longer)) return true;
  if (const auto axis = constant_axis(defined, *longer, *varied)) {
    count_constant(node, defined, {*axis, varied->by});
    return false;
  }
  if (!compute_alike(defined.computation, *longer)) refuse(defined, *varied, needs);
  for (size_t output = 0; output < of_node.outputs.size(); ++output) {
    if (of_node.outputs[output] == kAbsent) continue;
    const auto axis = axis_of(node, defined, *longer, output);
    if (!axis || defined.computation.outputs[output].shape[*axis] != varied->bound)
      refuse(defined, *varied, needs);
    counts_[of_node.outputs[output]] = {*axis, varied->by};
  }
  return false;
}

/// Have outputs of values one element where the count is 1? Then they have as many as it for all counts to
/// the bound, since an extent is an affine function of the count, rounded and clamped.
bool Counting::follows_values(const DefinedNode& defined, const Computation& longer, const Varied& varied) {
  if (!varied.has_values) return true;
  const std::optional<Computation> of_one = computation_of(*defined.node, varied.of_one);
  for (size_t output = 0; of_one && output < of_one->outputs.size(); ++output) {
    Shape shape = defined.computation.outputs[output].shape;
    if (const auto axis = longer_axis(shape, longer.outputs[output].shape)) shape[*axis] = 1;
    if (of_one->outputs[output].shape != shape) return false;
  }
  return of_one.has_value();
}

/// The axis of the output that is longer where the counted ones of the inputs are, and whose elements are
/// computed of the elements at the same place along these.
std::optional<size_t> Counting::axis_of(size_t node, const DefinedNode& defined, const Computation& longer,
                                        size_t output) const {
  const auto& constants = defined.computation.constants;
  const auto axis = longer_axis(defined.computation.outputs[output].shape, longer.outputs[output].shape);
  if (!axis || (!constants.empty() && constants[output])) return std::nullopt;
  const auto use = axis_use(network_, node, *axis, defined.node->outputs[output]);
  if (!use) return std::nullopt;
  for (size_t i = 0; i < use->size(); ++i) {
    const std::optional<Count> count = of(defined.node->inputs[i]);
    if ((*use)[i] != (count ? std::optional(count->axis) : std::nullopt)) return std::nullopt;
  }
  return axis;
}

/// The axis along which a constant result is the first part of the longer one.
std::optional<size_t> Counting::constant_axis(const DefinedNode& defined, const Computation& longer,
                                              const Varied& varied) {
  const auto &constants = defined.computation.constants, &others = longer.constants;
  if (constants.size() != 1 || others.size() != 1 || !constants[0] || !others[0]) return std::nullopt;
  const auto axis = longer_axis(constants[0]->shape, others[0]->shape);
  if (!axis || constants[0]->shape[*axis] != varied.bound ||
      first_of(to_tensor(*others[0]), *axis, varied.bound).bytes != to_tensor(*constants[0]).bytes)
    return std::nullopt;
  return axis;
}

/// Replaces the node by a constant of the highest extent, with the count.
void Counting::count_constant(size_t node, const DefinedNode& defined, Count count) {
  const Node old = network_.nodes[node];
  const auto& constant = defined.computation.constants[0];
  const auto index = static_cast<TensorIndex>(network_.tensors.size());
  network_.tensors.push_back({unique_name(network_, old.name + " at most"), constant->dtype,
                              std::vector<Extent>(constant->shape.begin(), constant->shape.end()), constant});
  network_.nodes[node] = counted_node(old.name, index, count, old.outputs[0]);
  counts_[old.outputs[0]] = count;
}

void Counting::give_counts() {
  const size_t results = network_.outputs.size();
  std::map<TensorIndex, size_t> given;  // the position of each count
  for (size_t i = 0; i < results; ++i) {
    const std::optional<Count> count = of(network_.outputs[i]);
    if (!count) continue;
    const auto [position, is_new] = given.try_emplace(count->by, network_.outputs.size());
    if (is_new) {
      // A copy of its own: the network may have the count as a result, too.
      Tensor copy = network_.tensor(count->by);
      copy.name = unique_name(network_, "count of " + network_.tensor(network_.outputs[i]).name);
      copy.constant = nullptr;
      const auto index = static_cast<TensorIndex>(network_.tensors.size());
      network_.tensors.push_back(std::move(copy));
      network_.nodes.push_back(copy_node(unique_name(network_, "count"), count->by, index));
      network_.outputs.push_back(index);
    }
    network_.counted.push_back({i, count->axis, position->second});
  }
}

}  // namespace tunesmith::network
