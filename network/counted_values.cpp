#include "counted_values.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "tunesmith/workload/statements.h"
#include "unique_name.h"
#include "values.h"

namespace tunesmith::network {
namespace {

using workload::Syntax;
using workload::SyntaxKind;

constexpr int64_t kMaxElements = 64;  // shapes are small

/// The arrays "in0", ... whose values are constant.
using Fixed = std::set<std::string>;

/// Does it read an array that is not fixed?
bool varies(const Syntax& value, const Fixed& fixed) {
  return (value.kind == SyntaxKind::Access && !fixed.contains(value.name)) ||
         std::ranges::any_of(value.args, [&](const auto& part) { return varies(*part, fixed); });
}

/// Is it a sum of multiples of elements whose places are known?
bool is_affine(const Syntax& value, const Fixed& fixed) {
  const auto all_are = [&] {
    return std::ranges::all_of(value.args, [&](const auto& part) { return is_affine(*part, fixed); });
  };
  if (!varies(value, fixed)) return true;
  switch (value.kind) {
    case SyntaxKind::Access:
      return std::ranges::none_of(value.args, [&](const auto& index) { return varies(*index, fixed); });
    case SyntaxKind::Negate:
      return all_are();
    case SyntaxKind::Binary: {
      const bool scales =
          value.name == "*" && !(varies(*value.args[0], fixed) && varies(*value.args[1], fixed));
      return (value.name == "+" || value.name == "-" || scales) && all_are();
    }
    case SyntaxKind::Call:
      if (value.name == "select")
        return !varies(*value.args[0], fixed) && is_affine(*value.args[1], fixed) &&
               is_affine(*value.args[2], fixed);
      return (value.name == "i64" || value.name == "i32") && all_are();
    case SyntaxKind::Reduce:
      return value.name == "sum" && all_are();
    case SyntaxKind::Integer:
    case SyntaxKind::Name:
    case SyntaxKind::Real:
    case SyntaxKind::Not:
      return false;
  }
  return false;
}

/// Does it not decrease as elements whose places are known grow?
bool is_ascending(const Syntax& value, const Fixed& fixed) {
  if (!varies(value, fixed)) return true;
  const auto all_are = [&] {
    return std::ranges::all_of(value.args, [&](const auto& part) { return is_ascending(*part, fixed); });
  };
  switch (value.kind) {
    case SyntaxKind::Access:
      return std::ranges::none_of(value.args, [&](const auto& index) { return varies(*index, fixed); });
    case SyntaxKind::Binary:
      return value.name == "+" && all_are();
    case SyntaxKind::Call:
      if (value.name == "select" && varies(*value.args[0], fixed)) return false;
      return (value.name == "select" || value.name == "min" || value.name == "max" || value.name == "i64" ||
              value.name == "i32") &&
             all_are();
    case SyntaxKind::Reduce:
      return (value.name == "sum" || value.name == "min" || value.name == "max") && all_are();
    case SyntaxKind::Integer:
    case SyntaxKind::Name:
    case SyntaxKind::Real:
    case SyntaxKind::Negate:
    case SyntaxKind::Not:
      return false;
  }
  return false;
}

/// Is each statement of this kind?
bool all_are(const DefinedNode& defined, bool (*kind)(const Syntax&, const Fixed&)) {
  if (defined.computation.compute.empty()) return false;
  Fixed fixed;
  for (size_t i = 0; i < defined.inputs.size(); ++i)
    if (defined.inputs[i] && defined.inputs[i]->constant != nullptr) fixed.insert(fmt::format("in{}", i));
  return std::ranges::all_of(workload::parse_statements(defined.computation.compute, "statements"),
                             [&](const auto& statement) { return kind(*statement.value, fixed); });
}

/// Is its only statement `in0[...] == in1[...]`, which compares elements at the same place, or with a single
/// one?
bool is_equality(const DefinedNode& defined) {
  const Computation& computation = defined.computation;
  if (defined.inputs.size() != 2 || computation.outputs.size() != 1 ||
      computation.outputs[0].shape.size() > 1 || computation.compute.empty())
    return false;
  const auto statements = workload::parse_statements(computation.compute, "statements");
  const Syntax& value = *statements.front().value;
  if (statements.size() != 1 || value.kind != SyntaxKind::Binary || value.name != "==") return false;
  const auto reads = [&](size_t side) {
    const Syntax& read = *value.args[side];
    return defined.inputs[side] && read.kind == SyntaxKind::Access &&
           read.name == fmt::format("in{}", side) && read.args.size() == 1 &&
           (element_count(defined.inputs[side]->type.shape) == 1 || read.args[0]->kind == SyntaxKind::Name);
  };
  return reads(0) && reads(1);
}

bool are_few_integers(const TensorType& type) {
  return (type.dtype == kI64 || type.dtype == kI32) && element_count(type.shape) <= kMaxElements;
}

/// Few integers, or conditions that are known.
bool is_of_shapes(const NodeInput& input) {
  const bool is_known = input.type.dtype.is_bool() && input.constant != nullptr;
  return are_few_integers(input.type) || (is_known && element_count(input.type.shape) <= kMaxElements);
}

}  // namespace

const CountedValues::Values* CountedValues::of(TensorIndex tensor) const {
  const auto found = values_.find(tensor);
  return found == values_.end() ? nullptr : &found->second;
}

const Constant* CountedValues::highest(TensorIndex tensor) const {
  const auto found = highest_.find(tensor);
  return found == highest_.end() ? nullptr : found->second.get();
}

const CountedValues::Values* CountedValues::replaced_by(TensorIndex constant) const {
  const auto found = stand_ins_.find(constant);
  return found == stand_ins_.end() ? nullptr : &found->second;
}

void CountedValues::add_count(TensorIndex by, int64_t bound) {
  const auto constant_of = [&](int64_t value) {
    tunesmith::Tensor made = tunesmith::Tensor::zeros(kI64, input_of(network_.tensor(by)).type.shape);
    made.set_int(0, value);
    return to_constant(std::move(made));
  };
  values_.insert_or_assign(by, Values{by, bound, constant_of(bound), constant_of(1), constant_of(bound + 1)});
  highest_.insert_or_assign(by, constant_of(bound));
}

void CountedValues::derive(const DefinedNode& defined) {
  if (!defined.node->bodies.empty()) return;
  derive_inequality(defined);
  if (!std::ranges::all_of(defined.computation.outputs, are_few_integers)) return;
  derive_highest(defined);
  derive_affine(defined);
}

void CountedValues::derive_highest(const DefinedNode& defined) {
  const Node& node = *defined.node;
  std::map<TensorIndex, tunesmith::Tensor> given;
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!defined.inputs[i] || !is_of_shapes(*defined.inputs[i])) return;
    const Constant* bounds = highest(node.inputs[i]);
    any |= bounds != nullptr;
    const Constant* values = bounds != nullptr ? bounds : defined.inputs[i]->constant;
    if (values == nullptr) return;
    given.emplace(node.inputs[i], to_tensor(*values));
  }
  if (!any || !all_are(defined, is_ascending)) return;
  auto made =
      compute(defined, [&](TensorIndex index) -> const tunesmith::Tensor& { return given.at(index); });
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kAbsent && made[i])
      highest_.insert_or_assign(node.outputs[i], to_constant(*std::move(made[i])));
}

void CountedValues::derive_affine(const DefinedNode& defined) {
  const Node& node = *defined.node;
  const Values* first = nullptr;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!defined.inputs[i] || !is_of_shapes(*defined.inputs[i])) return;
    const Values* values = of(node.inputs[i]);
    if (values == nullptr && defined.inputs[i]->constant == nullptr) return;
    if (values != nullptr && first != nullptr && (values->by != first->by || values->bound != first->bound))
      return;
    if (first == nullptr) first = values;
  }
  if (first == nullptr || !all_are(defined, is_affine)) return;
  const auto computed = [&](std::shared_ptr<const Constant> Values::* which) {
    std::map<TensorIndex, tunesmith::Tensor> given;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Values* values = of(node.inputs[i]);
      given.emplace(node.inputs[i],
                    to_tensor(values == nullptr ? *defined.inputs[i]->constant : *(values->*which)));
    }
    return compute(defined, [&](TensorIndex index) -> const tunesmith::Tensor& { return given.at(index); });
  };
  auto most = computed(&Values::most), one = computed(&Values::one), beyond = computed(&Values::beyond);
  const TensorIndex by = first->by;
  const int64_t bound = first->bound;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kAbsent && most[i] && one[i] && beyond[i])
      add_affine(node.outputs[i], {by, bound, to_constant(*std::move(most[i])),
                                   to_constant(*std::move(one[i])), to_constant(*std::move(beyond[i]))});
}

/// A multiple of 0 is a constant.
void CountedValues::add_affine(TensorIndex tensor, Values values) {
  if (std::ranges::equal(values.most->bytes, values.beyond->bytes))
    network_.tensor(tensor).constant = values.most;
  else
    values_.insert_or_assign(tensor, std::move(values));
}

/// Exporters ask of extents that are counts whether they are -1.
void CountedValues::derive_inequality(const DefinedNode& defined) {
  if (!is_equality(defined)) return;
  std::vector<std::vector<Range>> sides;
  for (size_t i = 0; i < 2; ++i) {
    if (!are_few_integers(defined.inputs[i]->type)) return;
    const std::optional<std::vector<Range>> ranges =
        ranges_of(defined.node->inputs[i], defined.inputs[i]->constant);
    if (!ranges) return;
    sides.push_back(*ranges);
  }
  const Shape& shape = defined.computation.outputs[0].shape;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const auto side = [&](size_t which) {
      const std::vector<Range>& ranges = sides[which];
      return ranges[ranges.size() == 1 ? 0 : static_cast<size_t>(i)];
    };
    if (side(0).least <= side(1).most && side(1).least <= side(0).most) return;
  }
  network_.tensor(defined.node->outputs[0]).constant = to_constant(tunesmith::Tensor::zeros(kBool, shape));
}

std::optional<std::vector<CountedValues::Range>> CountedValues::ranges_of(TensorIndex tensor,
                                                                          const Constant* constant) const {
  const Values* values = of(tensor);
  if (values == nullptr && constant == nullptr) return std::nullopt;
  const tunesmith::Tensor most = to_tensor(values == nullptr ? *constant : *values->most);
  const tunesmith::Tensor beyond = to_tensor(values == nullptr ? *constant : *values->beyond);
  std::vector<Range> ranges;
  for (int64_t i = 0; i < most.elements(); ++i) {
    const int64_t end = most.get_int(i);
    const int64_t begin = values == nullptr ? end : end - (beyond.get_int(i) - end) * values->bound;
    ranges.push_back({std::min(begin, end), std::max(begin, end)});
  }
  return ranges;
}

bool CountedValues::stand_in(Node& node, size_t input) {
  const Values* values = of(node.inputs[input]);
  if (values == nullptr) return false;
  Tensor constant = network_.tensor(node.inputs[input]);
  constant.name = unique_name(network_, constant.name + " at most");
  constant.constant = values->most;
  node.inputs[input] = static_cast<TensorIndex>(network_.tensors.size());
  stand_ins_.emplace(node.inputs[input], *values);
  network_.tensors.push_back(std::move(constant));
  return true;
}

}  // namespace tunesmith::network
