// spaces.yaml: parsed once into typed structures, everything checked that can be checked without loading a
// plugin.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/plugin/options.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct YamlNode;

/// A plugin named in spaces.yaml, with the options written for it.
struct PluginUse {
  std::string id;
  SourceLocation location;
  std::vector<RawOption> options;
  /// `with: [acme_npu?]`: taken only where its probe finds it.
  bool optional = false;
  /// Of a module that no list names: the module that brings it (ModuleDescription::partners).
  std::string brought_by = {};  // NOLINT(readability-redundant-member-init): may be left out

  /// Of an extension that is named by its file: the path, relative to the spaces file's folder. Empty for a
  /// plugin.
  std::filesystem::path extension_path() const;
};

/// A pack that a space requires.
struct PackUse {
  std::string id;
  SourceLocation location;
};

/// One space after `extends`, `modules+` and `with+` have been applied. What a space extends is in the same
/// file, else it is one of those that come with Tunesmith.
struct SpaceSpec {
  std::string name;
  SourceLocation location;
  /// Without which it cannot be composed: `requires:`, with those of what it extends.
  std::vector<PackUse> packs;
  std::string description;  // one line; "" where it has none, and never that of the space that it extends
  PluginUse target;
  std::vector<PluginUse> extensions;
  std::vector<PluginUse> modules;
  std::vector<std::string> removed;  // modules that no other brings, since `modules+` removes them
  /// One searcher, or a chain of them one after the other; a chain's members may say `trials`.
  struct Stage {
    PluginUse searcher;
    int64_t trials = 0;  // 0: what is left
  };
  std::vector<Stage> search;
  PluginUse cost_model;
  /// Of runs that tune many tasks; without an id when the space names none.
  PluginUse task_scheduler;
  /// Where its candidates are measured; without an id when the space does not say: on this machine.
  PluginUse runner;
  /// Schedules that the modules may make of the program, by forking. More end the run with the name of the
  /// module that made them.
  int64_t max_sketches = 1024;
};

/// A whole file. Immutable after parse().
class SpacesFile {
 public:
  /// Throws UserError with file:line:column: missing file, YAML error, two documents, duplicate key, unknown
  /// key (with the nearest known), wrong type, version not known, cycle in `extends`, unknown space,
  /// `modules+` naming a module that is not there, nesting or size beyond limits.
  static SpacesFile load(const std::filesystem::path& path);
  static SpacesFile parse(const std::string& text, const std::string& file_name);
  /// The same for who wants all mistakes at once: they are added to `faults`, and what can be read of spaces
  /// that have one is there. Throws as the others where nothing can be: no YAML, another version.
  static SpacesFile load(const std::filesystem::path& path, std::vector<UserError>& faults);
  static SpacesFile parse(const std::string& text, const std::string& file_name,
                          std::vector<UserError>& faults);

  std::vector<std::string> names() const;
  /// Does the space have a mistake in its text, or extend one that has?
  bool has_fault(const std::string& name) const { return faulty_.contains(name); }
  /// The space by name, or the file's `default:` when `name` is empty. Unknown: UserError with the nearest
  /// known.
  const SpaceSpec& space(const std::string& name) const;
  /// Folders under `plugins:`, resolved against the file's own folder.
  const std::vector<std::string>& plugin_paths() const { return plugin_paths_; }
  const std::string& file() const { return file_; }

 private:
  void read(const YamlNode& root, const std::string& file_name, std::vector<UserError>& faults);

  std::string file_;
  std::string default_;
  std::vector<std::string> plugin_paths_;
  std::map<std::string, SpaceSpec> spaces_;
  std::set<std::string> faulty_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
