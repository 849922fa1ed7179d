// An extension of a target as a file: tensor intrinsics, quantities of the device model, and the processor's
// features that they need. Most new instructions need no more than that. docs/targets.md has the form of the
// file.
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
  /// Reads the file and makes its intrinsics known to the process (TensorIntrinsics::global()), here or not:
  /// a schedule with them can be checked on every machine. Throws UserError:
  /// of a file that cannot be read at `named_at`, the place that names it, where there is one.
  static std::shared_ptr<ExtensionFile> load(const std::filesystem::path& file,
                                             const SourceLocation& named_at = {});

  /// The same of a text; `file` is named in errors.
  static std::shared_ptr<ExtensionFile> parse(const std::string& text, const std::string& file);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  /// The kind of target that it extends.
  const std::string& target() const { return target_; }
  const std::vector<TensorIntrinsicPtr>& intrinsics() const { return intrinsics_; }
  /// Of all that the file says but its description: comments and the order of keys are no part of it.
  uint64_t content_hash() const;

  ProbeResult probe(const Target& base) const override;
  /// Sets the file's quantities.
  void describe(DeviceModel& device) const override;
  /// The target emits the intrinsics.
  void adapt(LowerOptions& options) const override;

 private:
  ExtensionFile() = default;
  static std::shared_ptr<ExtensionFile> from_yaml(const YamlNode& root);
  /// Throws UserError, at `node`, where there is one of its name.
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
