// Finds plugins, lists them, and creates their objects.
//
//   PluginRegistry registry(search);                                     reads manifests, loads nothing
//   const auto& specs = registry.option_specs(PluginKind::Module, "x");  loads x, once
//   Options options = Options::validate(specs, written, plugin_name(PluginKind::Module, "x"), place);
//   auto module = registry.create<TransformationModule>("x", options);
//
// A library is loaded when one of its plugins is first requested, after its owner, hash and
// note were accepted, and is never unloaded: objects may outlive the registry. A refusal
// affects only that plugin; the reason is in log() and in the error that a request throws.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/options.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A folder with packs, or a pack's manifest; named by the user at `location`.
struct PluginPlace {
  std::filesystem::path path;
  SourceLocation location = {};
};

/// The search order: `command_line`, `spaces`, and unless `defaults` is off TUNESMITH_PLUGIN_PATH
/// (folders separated by colons; ignored in a set-id process), $XDG_DATA_HOME/tunesmith/plugins
/// (or ~/.local/share/tunesmith/plugins; likewise), and tunesmith/plugins beside libtunesmith.so.
/// Manifests (*.pack.json) are read in a folder and its direct subfolders; libraries are not.
struct PluginSearch {
  // The initialisers let GCC 12 take designated initialisers that leave members out.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::vector<PluginPlace> command_line = {};  ///< --plugin-path
  std::vector<PluginPlace> spaces = {};        ///< plugins: in the spaces file
  bool defaults = true;
  std::optional<std::filesystem::path> lock_file = {};  ///< --locked: only what this file lists is loaded
  // NOLINTEND(readability-redundant-member-init)
};

/// The parts of the search order. System: beside libtunesmith.so.
enum class PluginSource { CommandLine, SpacesFile, Environment, User, System };

/// "--plugin-path", "plugins: of the spaces file", "TUNESMITH_PLUGIN_PATH", "the user's folder", "the
/// system's folder".
std::string_view source_name(PluginSource source);

/// The manifest's entry for a plugin.
struct PluginInfo {
  PluginKind kind = PluginKind::Module;
  std::string id;
  std::string pack;     ///< id of the pack
  std::string version;  ///< of the pack
  std::string vendor;
  std::string licence;
  PluginSource source = PluginSource::CommandLine;
  std::filesystem::path manifest;
  std::filesystem::path library;  ///< as the manifest says, links not resolved
  std::string sha256;
  std::vector<std::string> needs;  ///< "extension:acme_npu"
  /// The libraries that come with the pack: path relative to the
  /// manifest's folder, and SHA-256. The same for all plugins of a pack.
  std::map<std::string, std::string> libraries = {};
};

/// One line of the search log, for `plugins list --why`.
struct PluginLogEntry {
  enum class Outcome { Searched, Absent, Ignored, Found, Loaded, Refused };

  Outcome outcome = Outcome::Searched;
  PluginSource source = PluginSource::CommandLine;
  std::filesystem::path path;  ///< of the folder, the manifest or the library
  std::string detail;          ///< which plugin, or the reason
};

/// "searched", "absent", "ignored", "found", "loaded", "refused".
std::string_view outcome_name(PluginLogEntry::Outcome outcome);

/// Limits of one call of a plugin; 0 for none.
struct PluginLimits {
  /// Of the plugin's own time; the kernel's work for it in between (SearchContext) counts a tenth.
  int seconds = 0;
  /// Growth of the process during the call.
  int64_t memory_bytes = 0;
};

/// Ends the process with the plugin's name when a call exceeds the limits (exit code 4; a cost model
/// that hangs is abandoned instead, and the run continues without it), and names the plugin when a
/// fatal signal arrives during a call (the signal still ends the process): a hanging thread cannot
/// be ended, and a crash does not say whose fault it is. Takes over SIGSEGV, SIGBUS, SIGILL, SIGFPE
/// and SIGABRT, so only for programs that do nothing but tune. Calling it again changes the limits.
void watch_plugins(const PluginLimits& limits);

class PluginRegistry {
 public:
  /// Reads the manifests. Throws UserError if a place named by the user does not
  /// exist or the lock file cannot be read, EnvironmentError if others than root
  /// and this user could have written the lock file; other problems are logged.
  explicit PluginRegistry(PluginSearch search = {});
  ~PluginRegistry();
  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;

  /// Sorted by kind, then id. Of two plugins with the same id, the kernel's own
  /// is kept; if neither is the kernel's, none is listed. The log names both.
  std::vector<PluginInfo> list() const;
  std::vector<PluginInfo> list(PluginKind kind) const;

  /// Was one found? It may still be refused.
  bool has(PluginKind kind, std::string_view id) const;

  /// The ids of the packs whose manifests were read, sorted.
  std::vector<std::string> packs() const;

  /// "looked at: PLACE (searched: manifests: 2), ...", for messages about plugins that were not found.
  std::string places_looked_at() const;

  /// Throws UserError at `asked_at` if there is no such plugin, with the nearest
  /// known id, plugins of other kinds with that name, and every searched place;
  /// PluginError if there are two, neither of them the kernel's, naming both.
  const PluginInfo& info(PluginKind kind, std::string_view id, const SourceLocation& asked_at = {}) const;

  /// Loads the plugin. Throws as info() does, and PluginError if it is refused.
  const std::vector<OptionSpec>& option_specs(PluginKind kind, std::string_view id,
                                              const SourceLocation& asked_at = {});

  /// The plugin's version and its line of help. Loads the plugin; throws as option_specs() does.
  std::string plugin_version(PluginKind kind, std::string_view id);
  std::string help(PluginKind kind, std::string_view id);

  /// The help lines of the plugins of list(), in its order; "" for refused ones.
  /// Loads them in a child process, so that a crash loses only the plugin's own line.
  std::vector<std::string> help_lines() const;

  /// Loads the plugin in a child process: "", or why it was refused. For
  /// lists and checks, which must survive initialisers that throw (which ends
  /// any process with exit code 4), crash, or take more than 10 seconds.
  std::string probe(PluginKind kind, std::string_view id) const;

  /// Creates an object of the plugin, which the plugin itself destroys;
  /// `options` come from its option_specs(). Throws as option_specs() does;
  /// exceptions of the constructor arrive as UserError or PluginError.
  template <typename Interface>
  std::shared_ptr<Interface> create(std::string_view id, const Options& options,
                                    const SourceLocation& asked_at = {}) {
    return std::static_pointer_cast<Interface>(create_object(kKindOf<Interface>, id, options, asked_at));
  }

  /// Everything that was searched and loaded so far, in order.
  std::vector<PluginLogEntry> log() const;

  /// Writes a lock file with the hashes of all plugins found. Throws PluginError
  /// if one is refused, EnvironmentError if the file cannot be written.
  void write_lock(const std::filesystem::path& file) const;

 private:
  std::shared_ptr<void> create_object(PluginKind kind, std::string_view id, const Options& options,
                                      const SourceLocation& asked_at);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
