// Common set-up of commands: plugins, spaces and records.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace tunesmith::cli {

/// Options of all commands.
struct Common {
  std::vector<std::string> plugin_paths;
  std::string spaces_file;  // empty: spaces.yaml here, else the one that came with Tunesmith
  std::string space;        // empty: the file's default
  std::string lock_file;
  bool json = false;
  bool quiet = false;
  std::string command_line;     // for the records: the program's name and its arguments
  int plugin_seconds = 60;      // limit of one call of a plugin; 0: no limit
  double plugin_gibibytes = 4;  // limit of memory growth during a call; 0: no limit
  /// False in a library: does not change the process's
  /// signals and standard output, and does not watch plugins.
  bool owns_process = true;
};

/// A spaces file and the plugins it can name.
class Session {
 public:
  explicit Session(const Common& common);
  /// Takes a spaces file that was read already.
  Session(const Common& common, SpacesFile spaces);

  const SpacesFile& spaces() const { return spaces_; }
  /// The built-in spaces, if spaces() is another file.
  const std::optional<SpacesFile>& builtin_spaces() const { return builtin_; }
  PluginRegistry& registry() { return *registry_; }
  /// Chooses this space if the user named none and it exists: a record names its space.
  void prefer_space(const std::string& name);
  /// Composes the chosen space. Reports a missing optional target.
  std::unique_ptr<Space> space(TargetPresence presence = TargetPresence::Required);
  /// The same without remarks on missing modules, for callers that use only its target.
  std::unique_ptr<Space> space_for_target();
  /// The chosen space: from the spaces file, else built in, else UserError.
  const SpaceSpec& spec() const;
  /// The task scheduler of the built-in default space, for spaces that name none.
  PluginUse usual_task_scheduler() const;
  /// The tensor intrinsics of the space's extensions, for replaying traces without composing the space.
  std::shared_ptr<const TensorIntrinsics> read_extensions();
  /// The parameters with which a worker makes the space's target.
  WorkerTarget worker_target() const;

 private:
  Common common_;
  SpacesFile spaces_;
  std::optional<SpacesFile> builtin_;  // set if `spaces_` is another file
  std::unique_ptr<PluginRegistry> registry_;
};

/// Reports the extensions and instructions that are missing from the space, on standard error.
void tell_refused(const Space& space);
/// Reports annotations by the space's modules that nothing consumes.
void tell_unconsumed(const Space& space);

/// The machine's lock, which reports on standard error when it waits.
std::shared_ptr<MachineLock> machine_lock();

/// The spaces file to use; reports on standard error if it was
/// found and not requested. Throws UserError if it does not exist.
std::string find_spaces_file(const Common& common);
/// The search path for plugins. They may be loaded next, so standard output
/// is protected from them (output.h) if the command owns the process.
PluginSearch plugin_search(const Common& common, const SpacesFile* spaces);
/// $XDG_DATA_HOME/tunesmith/records.db, or ~/.local/share/tunesmith/records.db; or `asked`.
std::string database_path(const std::string& asked);
/// Opens the store there (makes its folder only in the default place), and tells the user when it was
/// migrated from an older schema, or read as if it had been.
RecordStore open_records(const std::string& asked, RecordStore::Mode mode = RecordStore::Mode::Create);
/// Tells the user, on standard error.
void tell(const MigrationReport& migration);

}  // namespace tunesmith::cli
