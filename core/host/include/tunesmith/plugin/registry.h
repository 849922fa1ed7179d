// Finds plugins, says what there is, and makes objects of them.
//
//   PluginRegistry registry(search);                                     reads manifests, loads nothing
//   const auto& specs = registry.option_specs(PluginKind::Module, "x");  loads x, once
//   Options options = Options::validate(specs, written, plugin_name(PluginKind::Module, "x"), place);
//   auto module = registry.create<TransformationModule>("x", options);
//
// A library is loaded when a plugin in it is first asked for, after its owner, hash and note were found
// acceptable, and is never unloaded: objects may outlive the registry. What is refused harms nothing but
// itself; the reason is in log() and in the error of whoever asks for the plugin.
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

/// A folder with packs, or one pack's manifest; named by a person at `location`.
struct PluginPlace {
  std::filesystem::path path;
  SourceLocation location = {};
};

/// Where to look, in this order: `command_line`, `spaces`, and unless `defaults` is off TUNESMITH_PLUGIN_PATH
/// (folders separated by colons; ignored when the process is set-id), $XDG_DATA_HOME/tunesmith/plugins (or
/// ~/.local/share/tunesmith/plugins; ignored likewise), and tunesmith/plugins beside libtunesmith.so.
/// In a folder, manifests (*.pack.json) are read, and those in its direct subfolders; never a library.
struct PluginSearch {
  // The initialisers let GCC 12 take designated initialisers that leave members out.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::vector<PluginPlace> command_line = {};  ///< --plugin-path
  std::vector<PluginPlace> spaces = {};        ///< plugins: in the spaces file
  bool defaults = true;
  std::optional<std::filesystem::path> lock_file = {};  ///< --locked: only what this file lists is loaded
  // NOLINTEND(readability-redundant-member-init)
};

/// The parts of this order. System: beside libtunesmith.so.
enum class PluginSource { CommandLine, SpacesFile, Environment, User, System };

/// "--plugin-path", "plugins: of the spaces file", "TUNESMITH_PLUGIN_PATH", "the user's folder", "the
/// system's folder".
std::string_view source_name(PluginSource source);

/// What the manifest says about a plugin.
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
  /// What comes with the pack for its libraries to need: the path relative to the manifest's folder, and the
  /// SHA-256. The same for all plugins of a pack.
  std::map<std::string, std::string> libraries = {};
};

/// One line of the account of a search, for `plugins list --why`.
struct PluginLogEntry {
  enum class Outcome { Searched, Absent, Ignored, Found, Loaded, Refused };

  Outcome outcome = Outcome::Searched;
  PluginSource source = PluginSource::CommandLine;
  std::filesystem::path path;  ///< of the folder, the manifest or the library
  std::string detail;          ///< which plugin, or why
};

/// "searched", "absent", "ignored", "found", "loaded", "refused".
std::string_view outcome_name(PluginLogEntry::Outcome outcome);

/// What one call of a plugin may take. 0: anything.
struct PluginLimits {
  /// Of its own; what the kernel does for it in between (SearchContext) counts as a tenth.
  int seconds = 0;
  /// By which the process may grow meanwhile.
  int64_t memory_bytes = 0;
};

/// From now on the process ends with the plugin's name when a call of any plugin goes beyond the limits (exit
/// code 4; a cost model that hangs is left behind instead, and the run continues without it), or when a fatal
/// signal arrives while one is at work (by that signal, as it would have without this): nothing else ends a
/// thread that hangs, and nothing else says whose fault a crash is. For programs that are nothing but a
/// tuning run: it takes over SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. Called again it changes the limits.
void watch_plugins(const PluginLimits& limits);

class PluginRegistry {
 public:
  /// Reads the manifests. Throws UserError when a place that a person named does not exist, or when the lock
  /// file cannot be read, EnvironmentError when others than root and this user could have written that one;
  /// everything else that is wrong is in the log.
  explicit PluginRegistry(PluginSearch search = {});
  ~PluginRegistry();
  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;

  /// By kind, then id. Where an id is there twice, the one that comes with the kernel stays and the other is
  /// refused; of two others neither is listed. The log names both.
  std::vector<PluginInfo> list() const;
  std::vector<PluginInfo> list(PluginKind kind) const;

  /// Whether one was found; it may be refused all the same.
  bool has(PluginKind kind, std::string_view id) const;

  /// The ids of the packs whose manifests were read, sorted.
  std::vector<std::string> packs() const;

  /// "looked at: PLACE (searched: manifests: 2), ...", for messages about what was not found.
  std::string places_looked_at() const;

  /// Throws UserError at `asked_at` when there is no such plugin, with the nearest known id, plugins of other
  /// kinds that are called so, and every place that was looked at; PluginError when there are two and neither
  /// comes with the kernel, naming both.
  const PluginInfo& info(PluginKind kind, std::string_view id, const SourceLocation& asked_at = {}) const;

  /// Loads the plugin. Throws as info() does, and PluginError when it is refused.
  const std::vector<OptionSpec>& option_specs(PluginKind kind, std::string_view id,
                                              const SourceLocation& asked_at = {});

  /// The plugin's version and its line of help. Loads the plugin; throws as option_specs() does.
  std::string plugin_version(PluginKind kind, std::string_view id);
  std::string help(PluginKind kind, std::string_view id);

  /// The lines of help of the plugins of list(), in its order; "" for one that is refused. Loads them in a
  /// child process only, so that one that crashes costs nothing but its own line.
  std::vector<std::string> help_lines() const;

  /// Loads the plugin in a child process only: "", or why it was refused. For lists and checks, which must
  /// survive a plugin whose initialisers throw (this ends any process with exit code 4), crash, or do not end
  /// in 10 seconds.
  std::string probe(PluginKind kind, std::string_view id) const;

  /// A new object of the plugin, which the plugin itself destroys; `options` come from its option_specs().
  /// Throws as option_specs() does; what the plugin's constructor throws arrives as UserError or as
  /// PluginError.
  template <typename Interface>
  std::shared_ptr<Interface> create(std::string_view id, const Options& options,
                                    const SourceLocation& asked_at = {}) {
    return std::static_pointer_cast<Interface>(create_object(kKindOf<Interface>, id, options, asked_at));
  }

  /// Everything that was looked at and loaded up to now, in that order.
  std::vector<PluginLogEntry> log() const;

  /// Writes a lock file of all plugins found, hashing their files. Throws PluginError when one cannot be
  /// accepted, EnvironmentError when the file cannot be written.
  void write_lock(const std::filesystem::path& file) const;

 private:
  std::shared_ptr<void> create_object(PluginKind kind, std::string_view id, const Options& options,
                                      const SourceLocation& asked_at);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
