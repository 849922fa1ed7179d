// Cast, Clip, and what passes its input through.
#include <array>

#include <fmt/format.h>

#include "codes.h"
#include "registry.h"
#include "statements.h"
#include "tunesmith/support/error.h"

namespace tunesmith::operators_onnx {
namespace {

/// TensorProto.DataType of the types that there are.
constexpr std::array<std::pair<int64_t, DType>, 13> kTypes{{{1, kF32},
                                                            {2, kU8},
                                                            {3, kI8},
                                                            {4, kU16},
                                                            {5, kI16},
                                                            {6, kI32},
                                                            {7, kI64},
                                                            {9, kBool},
                                                            {10, kF16},
                                                            {11, kF64},
                                                            {12, kU32},
                                                            {13, kU64},
                                                            {16, kBF16}}};

Computation cast_to(const NodeReader& node, const TensorType& to, bool saturate) {
  const Shape& shape = node.shape(0);
  std::string value = here(in(0), shape);
  DType from = node.dtype(0);
  Script script;
  if (node.code(0) != Code::None && !is_integer_code(node.code(0))) {
    value = script.here(shape, decoded(node.code(0), value));
    from = kF32;
  }
  if (to.code == Code::None)
    value = convert(from, to.dtype, value);
  else if (is_integer_code(to.code))
    value = wrapped(to.code, convert(from, kI32, value));
  else if (to.code == Code::F8E8M0)
    value = encoded_power(script, shape, convert(from, kF32, value), node.text("round_mode", "up"), saturate);
  else
    value = encoded(script, shape, to.code, convert(from, kF32, value), saturate);
  return {{{to.dtype, shape, to.code}}, {}, script.text + statement(out(0), shape, value)};
}

Computation cast(const NodeReader& node) {
  node.ignore("round_mode");  // only casts to F8E8M0 read it
  node.refuse_unless(node.has_attribute("to"), "attribute 'to' is missing");
  return cast_to(node, type_of(node, node.integer("to", 0)), node.flag("saturate", true));
}

Computation cast_like(const NodeReader& node) {
  node.ignore("round_mode");
  return cast_to(node, {node.dtype(1), {}, node.code(1)}, node.flag("saturate", true));
}

/// The order of the arguments of max and min lets a NaN through.
Computation clip_between(const NodeReader& node, const std::string& lower, const std::string& upper) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(!node.dtype(0).is_bool(), "expected numbers");
  std::string value = here(in(0), shape);
  if (!lower.empty()) value = fmt::format("max({}, {})", lower, value);
  if (!upper.empty()) value = fmt::format("min({}, {})", upper, value);
  return copied(node, shape, value);
}

Computation clip_by_attributes(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_float(), "expected floating values");
  const bool has_lower = node.has_attribute("min");
  const bool has_upper = node.has_attribute("max");
  return clip_between(node, has_lower ? literal(node, node.number("min", 0)) : "",
                      has_upper ? literal(node, node.number("max", 0)) : "");
}

/// A known bound becomes a number, so that consumers recognise a ReLU6.
std::string bound(const NodeReader& node, size_t input) {
  if (!node.has(input)) return "";
  const DType dtype = node.dtype(input);
  node.refuse_unless(dtype == node.dtype(0), "a bound is of another type than the input");
  node.refuse_unless(element_count(node.shape(input)) == 1, "a bound is not a single value");
  const Constant* known = node.constant(input);
  if (known && (dtype == kF32 || dtype == kF64)) return literal(node, number_elements(*known)[0]);
  return element(in(input), Indices(node.rank(input), "0"));
}

Computation clip_by_inputs(const NodeReader& node) {
  return clip_between(node, bound(node, 1), bound(node, 2));
}

Computation identity(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  return copied(node, shape, here(in(0), shape));
}

/// Gives a sequence another name.
bool pass_sequence(const NodeReader& node, network::Expansion& to) {
  if (!node.is_sequence(0)) return false;
  to.give(0, node.input(0));
  return true;
}

Computation dropout(const NodeReader& node) {
  node.ignore("ratio");
  node.ignore("seed");
  if (node.version() < 7) node.refuse_unless(node.flag("is_test", false), "training is not taken");
  if (node.has(2)) node.refuse_unless(node.integer_of(2, "training_mode") == 0, "training is not taken");
  Computation made = identity(node);
  if (node.output_count() > 1) {
    const Shape& shape = node.shape(0);
    made.outputs.push_back({kBool, shape});
    std::vector<std::byte> bytes(static_cast<size_t>(element_count(shape)), std::byte{1});
    if (node.wants(1)) made.constants = {nullptr, make_constant(kBool, shape, std::move(bytes))};
  }
  return made;
}

}  // namespace

DType type_of_number(const NodeReader& node, int64_t number) {
  for (const auto& [each, dtype] : kTypes)
    if (each == number) return dtype;
  node.refuse(fmt::format("the type with ONNX's number {} is not there", number),
              "expected f64, f32, f16, bf16, integers or bool");
}

int64_t number_of_type(DType dtype) {
  for (const auto& [number, each] : kTypes)
    if (each == dtype) return number;
  throw InternalError("a type of elements is none of ONNX's");
}

TensorType type_of(const NodeReader& node, int64_t number) {
  if (const auto coded = type_with_code(number)) return *coded;
  return {type_of_number(node, number), {}};
}

std::vector<Row> conversion_operators() {
  return {
      {"Cast", 6, cast, true},
      {"CastLike", 15, cast_like, true},
      {"Clip", 6, clip_by_attributes},
      {"Clip", 11, clip_by_inputs},
      {"Identity", 1, identity, true, false, pass_sequence},
      {"Dropout", 6, dropout},
  };
}

}  // namespace tunesmith::operators_onnx
