// A pack in a folder of its own, with what a test puts into it.
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
  /// Names a file that is there already, with the hash that it has.
  void add_file(std::string_view library, std::string_view id = "subject", std::string_view needs = {});
  /// Copies a library of the build that plugins need, under the name that they know it by.
  std::filesystem::path add_library(std::string_view file);
  /// The manifest lists it, with the hash that it has.
  void list_library(std::string_view file);
  void write_manifest(std::string_view file = "test.pack.json") const;
  /// What the next manifest names.
  using Entries = std::vector<std::string>;
  const Entries& entries() const { return entries_; }
  void restore(const Entries& entries) { entries_ = entries; }

  /// Looks at this folder and nowhere else.
  PluginSearch search() const;
  /// What is said when the extension `id` is created with its default options; "accepted" when it is
  /// created.
  std::string creation(std::string_view id = "subject") const;

 private:
  TemporaryFolder path_;
  Entries entries_;
  std::vector<std::string> libraries_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view content);

/// What is said when the extension `id` is created with its default options; "accepted" when it is created.
std::string creation(PluginRegistry& registry, std::string_view id);

}  // namespace tunesmith::test
