// spaces.yaml: parsed into typed structures, with all
// checks that are possible without loading a plugin.
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
  /// `with: [acme_npu?]`: used only if its probe succeeds.
  bool optional = false;
  /// For a module that no list names: the module that brings it (ModuleDescription::partners).
  std::string brought_by = {};  // NOLINT(readability-redundant-member-init): may be left out

  /// For an extension named by its file: the path, relative
  /// to the spaces file's folder. Empty for a plugin.
  std::filesystem::path extension_path() const;
};

/// A pack that a space requires.
struct PackUse {
  std::string id;
  SourceLocation location;
};

/// One space after `extends`, `modules+` and `with+` were
/// applied. The extended space is in the same file or built in.
struct SpaceSpec {
  std::string name;
  SourceLocation location;
  /// Packs that the space cannot be composed without: `requires:`, with those of the extended space.
  std::vector<PackUse> packs;
  std::string description;  // one line, or ""; not inherited from the extended space
  PluginUse target;
  std::vector<PluginUse> extensions;
  std::vector<PluginUse> modules;
  std::vector<std::string> removed;  // modules that partners must not bring, since `modules+` removes them
  /// One searcher, or a chain of searchers; members of a chain may have `trials`.
  struct Stage {
    PluginUse searcher;
    int64_t trials = 0;  // 0: the remaining ones
  };
  std::vector<Stage> search;
  PluginUse cost_model;
  /// For runs that tune many tasks; without an id if the space names none.
  PluginUse task_scheduler;
  /// Where candidates are measured; without an id if the space names none: on this machine.
  PluginUse runner;
  /// The maximum number of schedules that the modules may fork from the program. More end the run with the
  /// name of the module that created them.
  int64_t max_sketches = 1024;
};

/// A whole file. Immutable after parse().
class SpacesFile {
 public:
  /// Throws UserError with file:line:column: missing file, YAML error, two documents, duplicate
  /// key, unknown key (with the nearest known), wrong type, unknown version, cycle in `extends`,
  /// unknown space, `modules+` with a module that is not there, too much nesting or size.
  static SpacesFile load(const std::filesystem::path& path);
  static SpacesFile parse(const std::string& text, const std::string& file_name);
  /// Collects all mistakes in `faults`, and reads as much as possible of faulty
  /// spaces. Throws if nothing can be read: invalid YAML, another version.
  static SpacesFile load(const std::filesystem::path& path, std::vector<UserError>& faults);
  static SpacesFile parse(const std::string& text, const std::string& file_name,
                          std::vector<UserError>& faults);

  std::vector<std::string> names() const;
  /// Does the space, or one that it extends, have a mistake in its text?
  bool has_fault(const std::string& name) const { return faulty_.contains(name); }
  /// The space by name, or the file's `default:` if `name`
  /// is empty. Throws UserError with the nearest known name.
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
