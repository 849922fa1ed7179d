#include "target/extension_intrinsic.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "target/extension_yaml.h"
#include "tunesmith/support/error.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith::extension {
namespace {

size_t operand_named(const TensorIntrinsic& intrinsic, const std::string& name, const YamlNode& at) {
  std::vector<std::string> known;
  for (size_t i = 0; i < intrinsic.operands.size(); ++i) {
    known.push_back(intrinsic.operands[i].buffer->name);
    if (known.back() == name) return i;
  }
  fail(at, fmt::format("unknown array '{}' in the semantics", name), suggest(name, known));
}

/// True if the strides make the elements contiguous: in sorted order, each stride is the product of the inner
/// extents. A free stride is the largest.
bool is_dense(const TensorOperand& operand) {
  std::vector<size_t> order(operand.strides.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return operand.strides[a] < operand.strides[b]; });
  if (std::ranges::count(operand.strides, 0) > 1) return false;
  int64_t expected = 1;
  for (const size_t d : order) {
    if (operand.buffer->shape[d] == 1 || operand.strides[d] == 0) continue;
    if (operand.strides[d] != expected) return false;
    expected *= operand.buffer->shape[d];
  }
  return true;
}

/// "8": 8 elements; "8n": any multiple of 8.
void read_strides(const YamlEntry& entry, TensorOperand& operand) {
  operand.strides.clear();
  for (const std::string& text : texts_of(entry.value, "strides")) {
    const bool free = text.ends_with('n');
    const auto elements = free ? positive_integer(text.substr(0, text.size() - 1)) : positive_integer(text);
    if (!elements)
      fail(entry.value, fmt::format("strides: expected a positive integer, found '{}'", text),
           "or one followed by n, for any multiple of it");
    if (free) operand.stride_multiple = *elements;
    operand.strides.push_back(free ? 0 : *elements);
  }
  if (operand.strides.size() != operand.buffer->shape.size() || !is_dense(operand)) {
    fail(entry.value,
         fmt::format("strides: expected one stride for each dimension of '{}', the last 1", entry.key));
  }
}

void read_operand(const YamlEntry& entry, TensorIntrinsic* intrinsic) {
  TensorOperand& operand = intrinsic->operands[operand_named(*intrinsic, entry.key, entry.value)];
  if (entry.value.kind != YamlNode::Kind::Map) fail(entry.value, "an operand: expected a mapping");
  refuse_unknown_keys(entry.value,
                      {"strides", "pass", "alignment", "swizzle", "outside", "scope", "layout", "registers"},
                      "an operand");
  if (const YamlNode* scope = entry.value.find("scope")) {
    operand.scope = text_of(*scope);
    if (operand.scope == kScopeRegister)
      fail(*scope, "scope: no operand of an intrinsic can live in the scope 'register'", "write 'local'");
  }
  if (const YamlNode* alignment = entry.value.find("alignment")) {
    const auto bytes = positive_integer(text_of(*alignment));
    if (!bytes || !std::has_single_bit(static_cast<uint64_t>(*bytes)))
      fail(*alignment,
           fmt::format("alignment: expected a power of two of bytes, found '{}'", alignment->text));
    operand.alignment = *bytes;
  }
  if (const YamlNode* swizzle = entry.value.find("swizzle")) {
    const std::string& text = text_of(*swizzle);
    if (text != "any" && text != "always")
      fail(*swizzle, fmt::format("swizzle: expected any or always, found '{}'", text));
    operand.swizzled = text == "any" ? TensorOperand::Swizzled::Any : TensorOperand::Swizzled::Always;
  }
  if (const YamlNode* outside = entry.value.find("outside")) {
    if (text_of(*outside) != "zero")
      fail(*outside, fmt::format("outside: expected zero, found '{}'", outside->text));
    if (!intrinsic->bulk_copy || &operand == intrinsic->operands.data())
      fail(*outside, "outside: only the source of a bulk copy may exceed its buffer");
    operand.zero_outside = true;
  }
  if (const YamlNode* layout = entry.value.find("layout")) operand.layout = text_of(*layout);
  if (const YamlNode* registers = entry.value.find("registers")) operand.registers = text_of(*registers);
  if (operand.layout.empty() != operand.registers.empty())
    fail(entry.value, "an operand: expected 'layout' and 'registers' together, or neither");
  if (const YamlNode* pass = entry.value.find("pass")) {
    if (text_of(*pass) != "address" && text_of(*pass) != "value")
      fail(*pass, fmt::format("pass: expected address or value, found '{}'", pass->text));
    operand.by_address = pass->text == "address";
    if (operand.by_address && !operand.layout.empty())
      fail(*pass, "pass: an operand in a group's registers has no address");
  }
  if (entry.value.find("strides") != nullptr) read_strides(entry, operand);
}

TensorImplementation read_implementation(const YamlNode& node, const TensorIntrinsic& intrinsic) {
  refuse_unknown_keys(node, {"intrinsic", "fragment", "after", "before_barrier", "arguments"},
                      "an implementation");
  TensorImplementation result;
  const YamlNode* fragment = node.find("fragment");
  if ((fragment == nullptr) == (node.find("intrinsic") == nullptr))
    fail(node, "an implementation: expected either 'intrinsic' or 'fragment'");
  result.form =
      fragment != nullptr ? TensorImplementation::Form::Fragment : TensorImplementation::Form::Intrinsic;
  const YamlNode& text =
      required(node, fragment != nullptr ? "fragment" : "intrinsic", YamlNode::Kind::Scalar);
  result.text = text.text;
  result.location = text.at(0);
  if (const YamlNode* after = node.find("after")) result.after = text_of(*after);
  if (const YamlNode* before = node.find("before_barrier")) result.before_barrier = text_of(*before);
  if (node.find("arguments") == nullptr) {
    for (size_t i = 0; i < intrinsic.operands.size(); ++i) result.arguments.push_back(i);
  } else {
    for (const std::string& name : texts_of(node, "arguments"))
      result.arguments.push_back(operand_named(intrinsic, name, node));
  }
  if (intrinsic.operands[0].by_address && std::ranges::count(result.arguments, size_t{0}) == 0)
    fail(node, fmt::format("arguments: '{}' is written through its address, so it must be an argument",
                           intrinsic.operands[0].buffer->name));
  if (result.form == TensorImplementation::Form::Intrinsic &&
      std::ranges::any_of(intrinsic.operands, &TensorOperand::by_address))
    fail(text, "intrinsic: an intrinsic of the back end takes values, not addresses", "write a fragment");
  return result;
}

/// A text in the workload language, or the equivalent mapping.
Program read_semantics(const YamlNode& node, const std::string& name) {
  if (node.kind == YamlNode::Kind::Map) {
    YamlNode root = node;
    YamlEntry& entry = root.entries.emplace_back();
    entry.key = "name";
    entry.location = entry.value.location = node.location;
    entry.value.kind = YamlNode::Kind::Scalar;
    entry.value.text = name;
    return program_of_definition(root);
  }
  // The name gets a line of its own, so that locations in messages count from the block's first line.
  const std::string file = fmt::format("{} (semantics of {})", node.location.str(), name);
  return std::move(WorkloadDefinition::parse(fmt::format("{}\nname: {}\n", text_of(node), name), file)
                       .instantiate()
                       .program);
}

void read_operands(const YamlNode& node, bool of_all, TensorIntrinsic* intrinsic) {
  if (node.kind != YamlNode::Kind::Map) fail(node, "operands: expected a mapping");
  for (const YamlEntry& entry : node.entries) {
    const bool known = std::ranges::any_of(
        intrinsic->operands, [&](const TensorOperand& operand) { return operand.buffer->name == entry.key; });
    if (known || !of_all) read_operand(entry, intrinsic);
  }
}

}  // namespace

TensorIntrinsicPtr read_intrinsic(const YamlNode& node, const Common& common) {
  if (node.kind != YamlNode::Kind::Map) fail(node, "an intrinsic: expected a mapping");
  refuse_unknown_keys(node,
                      {"name", "bulk_copy", "cycles", "variants", "semantics", "operands", "implementation"},
                      "an intrinsic");
  auto intrinsic = std::make_shared<TensorIntrinsic>();
  intrinsic->level = common.level;
  if (const YamlNode* bulk = node.find("bulk_copy")) {
    if (text_of(*bulk) != "true")
      fail(*bulk, fmt::format("bulk_copy: expected true, found '{}'", bulk->text));
    intrinsic->bulk_copy = true;
    intrinsic->level.clear();
  }
  if (const YamlNode* cycles = node.find("cycles")) {
    intrinsic->cycles = number_of(*cycles, "cycles");
    if (intrinsic->cycles <= 0.0)
      fail(*cycles, fmt::format("cycles: expected a number above 0, found '{}'", cycles->text));
  }
  intrinsic->name = required(node, "name", YamlNode::Kind::Scalar).text;
  if (const auto peak = common.peaks.find(intrinsic->name); peak != common.peaks.end())
    intrinsic->peak_sums = peak->second;
  const YamlNode* given = node.find("semantics");
  const YamlNode& semantics = required(
      node, "semantics",
      given != nullptr && given->kind == YamlNode::Kind::Map ? YamlNode::Kind::Map : YamlNode::Kind::Scalar);
  intrinsic->semantics = read_semantics(semantics, intrinsic->name);
  const Program& program = intrinsic->semantics;
  std::vector<Buffer> buffers = program.outputs;
  buffers.insert(buffers.end(), program.inputs.begin(), program.inputs.end());
  for (const Buffer& buffer : buffers) {
    TensorOperand& operand = intrinsic->operands.emplace_back();
    operand.buffer = buffer;
    operand.strides = buffer->effective_strides();
  }
  if (program.outputs.size() != 1) fail(semantics, "the semantics must have one output");
  if (const std::string problem = intrinsic->problem(); !problem.empty()) fail(semantics, problem);
  if (intrinsic->bulk_copy && !intrinsic->store().value.is(ExprKind::Load))
    fail(semantics, "the semantics of a bulk copy must copy");
  if (common.operands.kind != YamlNode::Kind::Null) read_operands(common.operands, true, intrinsic.get());
  if (const YamlNode* operands = node.find("operands")) read_operands(*operands, false, intrinsic.get());
  TensorImplementation implementation =
      read_implementation(required(node, "implementation", YamlNode::Kind::Map), *intrinsic);
  implementation.setup = common.setup;
  intrinsic->implementations[common.target] = std::move(implementation);
  return intrinsic;
}

}  // namespace tunesmith::extension
