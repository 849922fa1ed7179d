#include "tunesmith/target/extension_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "plugin/file_plugin.h"
#include "target/extension_intrinsic.h"
#include "target/extension_variants.h"
#include "target/extension_yaml.h"
#include "target/unit_keys.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

using namespace extension;

/// The newest file schema that this version reads; docs/targets.md lists the changes of each.
constexpr int64_t kNewestSchema = 1;
/// Limits the list, since each intrinsic is compared with all earlier ones.
constexpr size_t kMaxIntrinsics = 1024;

/// Checked first: otherwise a key of a newer schema would be reported as a spelling mistake.
void check_schema(const YamlNode& root) {
  const YamlNode* node = root.find("schema");
  if (node == nullptr) return;  // default 1
  const std::optional<int64_t> schema = positive_integer(text_of(*node));
  if (!schema) fail(*node, fmt::format("schema: expected a whole number, found '{}'", node->text));
  if (*schema > kNewestSchema) {
    fail(*node,
         fmt::format("schema: the file has schema {}, this Tunesmith reads up to {}", *schema, kNewestSchema),
         "install a newer Tunesmith");
  }
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

/// An extension of a pack may be such a file.
FilePlugin read_plugin(const std::string& text, const std::string& file) {
  const std::shared_ptr<ExtensionFile> extension = ExtensionFile::parse(text, file);
  // In the form that users of a TargetExtension expect.
  return {extension->name(), extension->description(), std::shared_ptr<TargetExtension>(extension)};
}

[[maybe_unused]] const bool packs_may_have_files = [] {
  set_file_plugin_reader(PluginKind::Extension, &read_plugin);
  return true;
}();

}  // namespace

std::shared_ptr<ExtensionFile> ExtensionFile::load(const std::filesystem::path& file,
                                                   const SourceLocation& named_at) {
  return from_yaml(read_yaml_file(file.string(), named_at));
}

std::shared_ptr<ExtensionFile> ExtensionFile::parse(const std::string& text, const std::string& file) {
  return from_yaml(parse_yaml(text, file));
}

std::shared_ptr<ExtensionFile> ExtensionFile::from_yaml(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::Map) fail(root, "an extension: expected a mapping");
  check_schema(root);
  refuse_unknown_keys(root,
                      {"schema", "extension", "description", "target", "requires", "quantities", "setup",
                       "peak", "level", "operands", "variants", "intrinsics"},
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
        // A variant without lists represents one that all lists share.
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
  if (known) fail(node, fmt::format("duplicate intrinsic '{}'", intrinsic->name));
  if (intrinsics_.size() >= kMaxIntrinsics)
    fail(node, fmt::format("an extension has at most {} intrinsics", kMaxIntrinsics));
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

}  // namespace tunesmith
