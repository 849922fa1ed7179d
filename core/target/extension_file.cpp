#include "tunesmith/target/extension_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "plugin/file_plugin.h"
#include "support/installation.h"
#include "support/yaml.h"
#include "tunesmith/support/error.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

[[noreturn]] void fail(const YamlNode& at, const std::string& message, const std::string& remedy = {}) {
  throw UserError(at.location, message, remedy);
}

const YamlNode& required(const YamlNode& node, const std::string& key, YamlNode::Kind kind) {
  const YamlNode* value = node.find(key);
  if (value == nullptr) fail(node, fmt::format("expected the key '{}'", key));
  if (value->kind != kind) {
    fail(*value,
         fmt::format("{}: expected {}, found {}", key, yaml_kind_name(kind), yaml_kind_name(value->kind)));
  }
  return *value;
}

const std::string& text_of(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Scalar)
    fail(node, fmt::format("expected a value, found {}", yaml_kind_name(node.kind)));
  return node.text;
}

std::vector<std::string> texts_of(const YamlNode& node, const std::string& key) {
  std::vector<std::string> texts;
  for (const YamlNode& item : required(node, key, YamlNode::Kind::Sequence).items)
    texts.push_back(text_of(item));
  return texts;
}

size_t operand_named(const TensorIntrinsic& intrinsic, const std::string& name, const YamlNode& at) {
  std::vector<std::string> known;
  for (size_t i = 0; i < intrinsic.operands.size(); ++i) {
    known.push_back(intrinsic.operands[i].buffer->name);
    if (known.back() == name) return i;
  }
  fail(at, fmt::format("the semantics have no array '{}'", name), suggest(name, known));
}

/// Strides must lay the elements side by side: sorted, each is the product of the extents inside it.
bool is_dense(const TensorOperand& operand) {
  std::vector<size_t> order(operand.strides.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return operand.strides[a] < operand.strides[b]; });
  int64_t expected = 1;
  for (const size_t d : order) {
    if (operand.buffer->shape[d] == 1) continue;
    if (operand.strides[d] != expected) return false;
    expected *= operand.buffer->shape[d];
  }
  return true;
}

void read_operand(const YamlEntry& entry, TensorIntrinsic* intrinsic) {
  TensorOperand& operand = intrinsic->operands[operand_named(*intrinsic, entry.key, entry.value)];
  if (entry.value.kind != YamlNode::Kind::Map) fail(entry.value, "an operand: expected a mapping");
  refuse_unknown_keys(entry.value, {"strides", "scope"}, "an operand");
  if (const YamlNode* scope = entry.value.find("scope")) {
    operand.scope = text_of(*scope);
    if (operand.scope == kScopeRegister)
      fail(*scope, "scope: no operand of an intrinsic can live in the scope 'register'", "write 'local'");
  }
  if (entry.value.find("strides") == nullptr) return;
  operand.strides.clear();
  for (const std::string& text : texts_of(entry.value, "strides")) {
    const bool digits = !text.empty() && text.size() < 10 &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) fail(entry.value, fmt::format("strides: expected a positive integer, found '{}'", text));
    operand.strides.push_back(std::stoll(text));
  }
  if (operand.strides.size() != operand.buffer->shape.size() || !is_dense(operand)) {
    fail(entry.value,
         fmt::format("strides: the elements of '{}' must lie together, one stride for each dimension",
                     entry.key));
  }
}

TensorImplementation read_implementation(const YamlNode& node, const TensorIntrinsic& intrinsic) {
  refuse_unknown_keys(node, {"intrinsic", "fragment", "arguments"}, "an implementation");
  TensorImplementation result;
  const YamlNode* fragment = node.find("fragment");
  if ((fragment == nullptr) == (node.find("intrinsic") == nullptr))
    fail(node, "an implementation: expected one of the keys 'intrinsic' and 'fragment'");
  result.form =
      fragment != nullptr ? TensorImplementation::Form::Fragment : TensorImplementation::Form::Intrinsic;
  const YamlNode& text =
      required(node, fragment != nullptr ? "fragment" : "intrinsic", YamlNode::Kind::Scalar);
  result.text = text.text;
  result.location = text.at(0);
  for (const std::string& name : texts_of(node, "arguments"))
    result.arguments.push_back(operand_named(intrinsic, name, node));
  return result;
}

std::map<std::string, double> read_quantities(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Map)
    fail(node, fmt::format("quantities: expected a mapping, found {}", yaml_kind_name(node.kind)));
  std::map<std::string, double> quantities;
  for (const YamlEntry& entry : node.entries) {
    const std::string& text = text_of(entry.value);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      fail(entry.value, fmt::format("quantities: {}: expected a number, found '{}'", entry.key, text));
    }
    quantities[entry.key] = value;
  }
  return quantities;
}

TensorIntrinsicPtr read_intrinsic(const YamlNode& node, const std::string& target) {
  if (node.kind != YamlNode::Kind::Map) fail(node, "an intrinsic: expected a mapping");
  refuse_unknown_keys(node, {"name", "semantics", "operands", "implementation"}, "an intrinsic");
  auto intrinsic = std::make_shared<TensorIntrinsic>();
  intrinsic->name = required(node, "name", YamlNode::Kind::Scalar).text;
  const YamlNode& semantics = required(node, "semantics", YamlNode::Kind::Scalar);
  // The name stands on a line of its own, so that places in messages count from the block's first line.
  const std::string file = fmt::format("{} (semantics of {})", semantics.location.str(), intrinsic->name);
  Workload workload =
      WorkloadDefinition::parse(fmt::format("{}\nname: {}\n", semantics.text, intrinsic->name), file)
          .instantiate();
  intrinsic->semantics = std::move(workload.program);
  const Program& program = intrinsic->semantics;
  std::vector<Buffer> buffers = program.outputs;
  buffers.insert(buffers.end(), program.inputs.begin(), program.inputs.end());
  for (const Buffer& buffer : buffers)
    intrinsic->operands.push_back({buffer, buffer->effective_strides(), ""});
  if (program.outputs.size() != 1) fail(semantics, "the semantics must have one output");
  if (const std::string problem = intrinsic->problem(); !problem.empty()) fail(semantics, problem);
  if (const YamlNode* operands = node.find("operands")) {
    if (operands->kind != YamlNode::Kind::Map) fail(*operands, "operands: expected a mapping");
    for (const YamlEntry& entry : operands->entries) read_operand(entry, intrinsic.get());
  }
  intrinsic->implementations[target] =
      read_implementation(required(node, "implementation", YamlNode::Kind::Map), *intrinsic);
  return intrinsic;
}

/// An extension of a pack may be such a file.
FilePlugin read_plugin(const std::string& text, const std::string& file) {
  const std::shared_ptr<ExtensionFile> extension = ExtensionFile::parse(text, file);
  // As whoever asks for a TargetExtension takes it.
  return {extension->name(), extension->description(), std::shared_ptr<TargetExtension>(extension)};
}

[[maybe_unused]] const bool packs_may_have_files = [] {
  set_file_plugin_reader(PluginKind::Extension, &read_plugin);
  return true;
}();

}  // namespace

std::shared_ptr<ExtensionFile> ExtensionFile::load(const std::filesystem::path& file) {
  return from_yaml(read_yaml_file(file.string()));
}

std::shared_ptr<ExtensionFile> ExtensionFile::parse(const std::string& text, const std::string& file) {
  return from_yaml(parse_yaml(text, file));
}

std::shared_ptr<ExtensionFile> ExtensionFile::from_yaml(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::Map) fail(root, "an extension: expected a mapping");
  refuse_unknown_keys(root, {"extension", "description", "target", "requires", "quantities", "intrinsics"},
                      "an extension");
  std::shared_ptr<ExtensionFile> extension(new ExtensionFile());
  extension->name_ = required(root, "extension", YamlNode::Kind::Scalar).text;
  const std::string& target = required(root, "target", YamlNode::Kind::Scalar).text;
  if (const YamlNode* description = root.find("description")) extension->description_ = text_of(*description);
  if (root.find("requires") != nullptr) extension->requires_ = texts_of(root, "requires");
  const YamlNode* quantities = root.find("quantities");
  if (quantities != nullptr) extension->quantities_ = read_quantities(*quantities);
  if (quantities == nullptr || root.find("intrinsics") != nullptr) {
    for (const YamlNode& node : required(root, "intrinsics", YamlNode::Kind::Sequence).items) {
      TensorIntrinsicPtr read = read_intrinsic(node, target);
      for (const TensorIntrinsicPtr& other : extension->intrinsics_) {
        if (other->name == read->name) fail(node, fmt::format("intrinsic '{}' is there already", read->name));
      }
      extension->intrinsics_.push_back(std::move(read));
    }
  }
  for (const TensorIntrinsicPtr& intrinsic : extension->intrinsics_)
    TensorIntrinsics::global().add(intrinsic);
  return extension;
}

ProbeResult ExtensionFile::probe(const Target& base) const {
  for (const std::string& feature : requires_) {
    if (!base.has_feature(feature)) return {feature};
  }
  return {};
}

void ExtensionFile::describe(DeviceModel& device) const {
  for (const auto& [name, value] : quantities_) device.set(name, value);
}

void ExtensionFile::adapt(LowerOptions& options) const {
  options.intrinsics.insert(options.intrinsics.end(), intrinsics_.begin(), intrinsics_.end());
}

std::filesystem::path builtin_extension(std::string_view id) {
  const std::string file = fmt::format("{}.yaml", id);
  const auto installed = (library_folder() / TUNESMITH_EXTENSIONS_FROM_LIBRARY / file).lexically_normal();
  if (std::filesystem::is_regular_file(installed)) return installed;
  const auto source = std::filesystem::path(TUNESMITH_EXTENSIONS_SOURCE) / std::string(id) / file;
  return std::filesystem::is_regular_file(source) ? source : std::filesystem::path();
}

}  // namespace tunesmith
