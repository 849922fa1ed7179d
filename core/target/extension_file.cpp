#include "tunesmith/target/extension_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intrinsics/intrinsic_content.h"
#include "plugin/file_plugin.h"
#include "support/installation.h"
#include "support/yaml.h"
#include "target/unit_keys.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/workload/workload.h"
#include "workload/definition.h"
#include "workload/parameters.h"
#include "workload/program_builder.h"

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

/// Strides must lay the elements side by side: sorted, each is the product of the extents inside it. A free
/// one is the largest.
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

/// 1 to 999999999; nothing where the text is anything else.
std::optional<int64_t> positive_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 999999999)
    return std::nullopt;
  return value;
}

/// "8": 8 elements; "8n": any multiple of them.
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
         fmt::format("strides: the elements of '{}' must lie together, one stride for each dimension",
                     entry.key));
  }
}

void read_operand(const YamlEntry& entry, TensorIntrinsic* intrinsic) {
  TensorOperand& operand = intrinsic->operands[operand_named(*intrinsic, entry.key, entry.value)];
  if (entry.value.kind != YamlNode::Kind::Map) fail(entry.value, "an operand: expected a mapping");
  refuse_unknown_keys(
      entry.value, {"strides", "pass", "alignment", "swizzle", "scope", "layout", "registers"}, "an operand");
  if (const YamlNode* scope = entry.value.find("scope")) {
    operand.scope = text_of(*scope);
    if (operand.scope == kScopeRegister)
      fail(*scope, "scope: no operand of an intrinsic can live in the scope 'register'", "write 'local'");
  }
  if (const YamlNode* alignment = entry.value.find("alignment")) {
    const auto bytes = positive_integer(text_of(*alignment));
    if (!bytes) fail(*alignment, "alignment: expected a number of bytes");
    operand.alignment = *bytes;
  }
  if (const YamlNode* swizzle = entry.value.find("swizzle")) {
    const std::string& text = text_of(*swizzle);
    if (text != "any" && text != "always")
      fail(*swizzle, fmt::format("swizzle: expected any or always, found '{}'", text));
    operand.swizzled = text == "any" ? TensorOperand::Swizzled::Any : TensorOperand::Swizzled::Always;
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
      fail(*pass, "pass: what a group holds in a layout has no address");
  }
  if (entry.value.find("strides") != nullptr) read_strides(entry, operand);
}

TensorImplementation read_implementation(const YamlNode& node, const TensorIntrinsic& intrinsic) {
  refuse_unknown_keys(node, {"intrinsic", "fragment", "after", "before_barrier", "arguments"},
                      "an implementation");
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
  if (const YamlNode* after = node.find("after")) result.after = text_of(*after);
  if (const YamlNode* before = node.find("before_barrier")) result.before_barrier = text_of(*before);
  if (node.find("arguments") == nullptr) {
    for (size_t i = 0; i < intrinsic.operands.size(); ++i) result.arguments.push_back(i);
  } else {
    for (const std::string& name : texts_of(node, "arguments"))
      result.arguments.push_back(operand_named(intrinsic, name, node));
  }
  if (intrinsic.operands[0].by_address && std::ranges::count(result.arguments, size_t{0}) == 0)
    fail(node, fmt::format("arguments: '{}' is written through its address, so it must be one of them",
                           intrinsic.operands[0].buffer->name));
  if (result.form == TensorImplementation::Form::Intrinsic &&
      std::ranges::any_of(intrinsic.operands, &TensorOperand::by_address))
    fail(text, "intrinsic: an intrinsic of the back end takes values, not addresses", "write a fragment");
  return result;
}

double number_of(const YamlNode& node, const std::string& what) {
  const std::string& text = text_of(node);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail(node, fmt::format("{}: expected a number, found '{}'", what, text));
  return value;
}

std::map<std::string, double> read_quantities(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Map)
    fail(node, fmt::format("quantities: expected a mapping, found {}", yaml_kind_name(node.kind)));
  std::map<std::string, double> quantities;
  for (const YamlEntry& entry : node.entries) {
    quantities[entry.key] = number_of(entry.value, "quantities: " + entry.key);
  }
  return quantities;
}

/// A text in the workload language, or the mapping that such a text is.
Program read_semantics(const YamlNode& node, const std::string& name) {
  if (node.kind == YamlNode::Kind::Map) {
    YamlNode root = node;
    YamlEntry& entry = root.entries.emplace_back();
    entry.key = "name";
    entry.value.kind = YamlNode::Kind::Scalar;
    entry.value.text = name;
    const workload::Definition definition = workload::read_definition(root);
    return workload::build_program(definition, workload::resolve_parameters(definition, {}).names);
  }
  // The name stands on a line of its own, so that places in messages count from the block's first line.
  const std::string file = fmt::format("{} (semantics of {})", node.location.str(), name);
  return std::move(WorkloadDefinition::parse(fmt::format("{}\nname: {}\n", text_of(node), name), file)
                       .instantiate()
                       .program);
}

/// What the file says of all its intrinsics.
struct Common {
  std::string target;
  std::string level;
  YamlNode operands;  // a mapping, or nothing
  UnitSetup setup;
  std::map<std::string, int64_t> peaks;  // TensorIntrinsic::peak_sums by name
};

void read_operands(const YamlNode& node, bool of_all, TensorIntrinsic* intrinsic) {
  if (node.kind != YamlNode::Kind::Map) fail(node, "operands: expected a mapping");
  for (const YamlEntry& entry : node.entries) {
    const bool known = std::ranges::any_of(
        intrinsic->operands, [&](const TensorOperand& operand) { return operand.buffer->name == entry.key; });
    if (known || !of_all) read_operand(entry, intrinsic);
  }
}

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
  if (const YamlNode* cycles = node.find("cycles")) intrinsic->cycles = number_of(*cycles, "cycles");
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

/// What stands for "$key" in the texts of the intrinsics.
using Variant = std::map<std::string, std::string, std::greater<>>;  // a longer key before its beginning

bool has_several_lists(const YamlNode& variants) {
  return !variants.items.empty() && variants.items.front().kind == YamlNode::Kind::Sequence;
}

std::vector<Variant> read_choice(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Sequence) fail(node, "variants: expected a list of mappings");
  std::vector<Variant> variants;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::Map) fail(item, "variants: expected a list of mappings");
    Variant& variant = variants.emplace_back();
    for (const YamlEntry& entry : item.entries) variant[entry.key] = text_of(entry.value);
  }
  return variants;
}

/// A list of mappings; or several such lists, of which each variant has one mapping from each.
std::vector<Variant> read_variants(const YamlNode& owner) {
  if (owner.find("variants") == nullptr) return {Variant()};
  const YamlNode& lists = required(owner, "variants", YamlNode::Kind::Sequence);
  if (!has_several_lists(lists)) return read_choice(lists);
  std::vector<Variant> variants{Variant()};
  for (const YamlNode& list : lists.items) {
    std::vector<Variant> longer;
    for (const Variant& variant : variants) {
      for (Variant choice : read_choice(list)) {
        for (const auto& [key, text] : choice) {
          if (variant.contains(key)) fail(list, fmt::format("variants: two lists have the key '{}'", key));
        }
        choice.insert(variant.begin(), variant.end());
        longer.push_back(std::move(choice));
      }
    }
    variants = std::move(longer);
  }
  return variants;
}

/// In `node` and all below it.
void put_in(YamlNode& node, const Variant& variant) {
  for (const auto& [key, text] : variant) {
    const std::string wanted = "$" + key;
    for (size_t at = node.text.find(wanted); at != std::string::npos;
         at = node.text.find(wanted, at + text.size()))
      node.text.replace(at, wanted.size(), text);
  }
  for (YamlNode& item : node.items) put_in(item, variant);
  for (YamlEntry& entry : node.entries) put_in(entry.value, variant);
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
  refuse_unknown_keys(root,
                      {"extension", "description", "target", "requires", "quantities", "setup", "peak",
                       "level", "operands", "variants", "intrinsics"},
                      "an extension");
  std::shared_ptr<ExtensionFile> extension(new ExtensionFile());
  extension->name_ = required(root, "extension", YamlNode::Kind::Scalar).text;
  Common common;
  common.target = required(root, "target", YamlNode::Kind::Scalar).text;
  extension->target_ = common.target;
  if (const YamlNode* level = root.find("level")) common.level = text_of(*level);
  if (const YamlNode* operands = root.find("operands")) common.operands = *operands;
  if (const YamlNode* description = root.find("description")) extension->description_ = text_of(*description);
  if (root.find("requires") != nullptr) extension->requires_ = texts_of(root, "requires");
  if (const YamlNode* setup = root.find("setup")) common.setup = read_unit_setup(*setup, extension->name_);
  const YamlNode* peak = root.find("peak");
  if (peak != nullptr) common.peaks = read_unit_peaks(*peak);
  const YamlNode* quantities = root.find("quantities");
  if (quantities != nullptr) extension->quantities_ = read_quantities(*quantities);
  const std::vector<Variant> variants = read_variants(root);
  if (quantities == nullptr || root.find("intrinsics") != nullptr) {
    for (const YamlNode& node : required(root, "intrinsics", YamlNode::Kind::Sequence).items) {
      const std::ptrdiff_t before = std::ssize(extension->intrinsics_);
      const bool has_own = node.kind == YamlNode::Kind::Map && node.find("variants") != nullptr;
      const YamlNode* lists = has_own ? node.find("variants") : root.find("variants");
      for (const Variant& variant : has_own ? read_variants(node) : variants) {
        YamlNode own = node;
        put_in(own, variant);
        Common of_all = common;
        put_in(of_all.operands, variant);
        TensorIntrinsicPtr read = read_intrinsic(own, of_all);
        // What says nothing of a list is one for all that the list has.
        const bool known = lists != nullptr && has_several_lists(*lists) &&
                           std::any_of(extension->intrinsics_.begin() + before, extension->intrinsics_.end(),
                                       [&, content = content_of(*read)](const TensorIntrinsicPtr& other) {
                                         return content_of(*other) == content;
                                       });
        if (!known) extension->add(std::move(read), node);
      }
    }
  }
  if (peak != nullptr) check_unit_peaks(*peak, extension->intrinsics_);
  for (const TensorIntrinsicPtr& intrinsic : extension->intrinsics_)
    TensorIntrinsics::global().add(intrinsic);
  return extension;
}

void ExtensionFile::add(TensorIntrinsicPtr intrinsic, const YamlNode& node) {
  const bool known = std::ranges::any_of(
      intrinsics_, [&](const TensorIntrinsicPtr& other) { return other->name == intrinsic->name; });
  if (known) fail(node, fmt::format("intrinsic '{}' is there already", intrinsic->name));
  intrinsics_.push_back(std::move(intrinsic));
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

uint64_t ExtensionFile::content_hash() const {
  uint64_t hash = hash_combine(hash_bytes(name_), hash_bytes(target_));
  for (const std::string& feature : requires_) hash = hash_combine(hash, hash_bytes(feature));
  for (const auto& [name, value] : quantities_)
    hash = hash_combine(hash, hash_bytes(fmt::format("{}={}", name, value)));
  for (const TensorIntrinsicPtr& intrinsic : intrinsics_)
    hash = hash_combine(hash, tunesmith::content_hash(*intrinsic));
  return hash;
}

std::filesystem::path builtin_extension(std::string_view id) {
  const std::string file = fmt::format("{}.yaml", id);
  const auto installed = (library_folder() / TUNESMITH_EXTENSIONS_FROM_LIBRARY / file).lexically_normal();
  if (std::filesystem::is_regular_file(installed)) return installed;
  const auto source = std::filesystem::path(TUNESMITH_EXTENSIONS_SOURCE) / std::string(id) / file;
  return std::filesystem::is_regular_file(source) ? source : std::filesystem::path();
}

}  // namespace tunesmith
