// A pack in a new folder, to which a test adds files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/plugin/registry.h>

#include "temporary_folder.h"

namespace tunesmith::test {

class PackFolder {
 public:
  const std::filesystem::path& path() const { return path_.path(); }

  /// Copies a library of the build into the pack; the manifest names it as `id`.
  std::filesystem::path add(std::string_view built_library, std::string_view id = "subject");
  /// Lists an existing file with its hash.
  void add_file(std::string_view library, std::string_view id = "subject", std::string_view needs = {});
  /// Copies a library of the build that plugins need, under the name by which they need it.
  std::filesystem::path add_library(std::string_view file);
  /// Lists a library in the manifest with its hash.
  void list_library(std::string_view file);
  void write_manifest(std::string_view file = "test.pack.json") const;
  /// The entries of the next manifest.
  using Entries = std::vector<std::string>;
  const Entries& entries() const { return entries_; }
  void restore(const Entries& entries) { entries_ = entries; }

  /// A search in this folder only.
  PluginSearch search() const;
  /// The message when the extension `id` is created with its default options; "accepted" without an error.
  std::string creation(std::string_view id = "subject") const;

 private:
  TemporaryFolder path_;
  Entries entries_;
  std::vector<std::string> libraries_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view content);

/// The message when the extension `id` is created with its default options; "accepted" without an error.
std::string creation(PluginRegistry& registry, std::string_view id);

}  // namespace tunesmith::test
