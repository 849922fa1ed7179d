// An extension of a target as a file: tensor intrinsics, quantities
// of the device model, and required processor features, which
// suffices for most new instructions. docs/targets.md has the format.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct YamlNode;

class ExtensionFile final : public TargetExtension {
 public:
  /// Reads the file and registers its intrinsics in the process (TensorIntrinsics::global()),
  /// available or not, so that schedules with them can be checked on every machine. Throws
  /// UserError; for a file that cannot be read, at `named_at` (the place that names it) if given.
  static std::shared_ptr<ExtensionFile> load(const std::filesystem::path& file,
                                             const SourceLocation& named_at = {});

  /// Parses a text; `file` is named in errors.
  static std::shared_ptr<ExtensionFile> parse(const std::string& text, const std::string& file);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /// The target kind that it extends.
  const std::string& target() const { return target_; }
  const std::vector<TensorIntrinsicPtr>& intrinsics() const { return intrinsics_; }
  /// A hash of the content without the description; comments and the order of keys do not count.
  uint64_t content_hash() const;

  ProbeResult probe(const Target& base) const override;
  /// Sets the file's quantities.
  void describe(DeviceModel& device) const override;
  /// Adds the intrinsics to those that the target emits.
  void adapt(LowerOptions& options) const override;

 private:
  ExtensionFile() = default;
  static std::shared_ptr<ExtensionFile> from_yaml(const YamlNode& root);
  /// Throws UserError, at `node`, if the name is taken.
  void add(TensorIntrinsicPtr intrinsic, const YamlNode& node);

  std::string name_;
  std::string description_;
  std::string target_;
  std::vector<std::string> requires_;
  std::map<std::string, double> quantities_;
  std::vector<TensorIntrinsicPtr> intrinsics_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
