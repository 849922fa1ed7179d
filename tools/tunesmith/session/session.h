// What most commands begin with: where plugins, spaces and records are.
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

/// Options that all commands share.
struct Common {
  std::vector<std::string> plugin_paths;
  std::string spaces_file;  // empty: spaces.yaml here, else the one that came with Tunesmith
  std::string space;        // empty: the file's default
  std::string lock_file;
  bool json = false;
  bool quiet = false;
  std::string command_line;     // for the records: the program's name, and its arguments as they were given
  int plugin_seconds = 60;      // that one call of a plugin may take; 0: any
  double plugin_gibibytes = 4;  // by which the process may grow meanwhile; 0: any
  /// False in a library: the process's signals and its standard output are left alone, and its plugins
  /// unwatched.
  bool owns_process = true;
};

/// A spaces file and the plugins it can name.
class Session {
 public:
  explicit Session(const Common& common);
  /// With a spaces file that was read already.
  Session(const Common& common, SpacesFile spaces);

  const SpacesFile& spaces() const { return spaces_; }
  /// Those that come with Tunesmith, where spaces() is another file.
  const std::optional<SpacesFile>& builtin_spaces() const { return builtin_; }
  PluginRegistry& registry() { return *registry_; }
  /// Chooses this space where the user named none and there is one of this name: a record knows its own.
  void prefer_space(const std::string& name);
  /// Composes the space chosen. Where its target need not be here and is not, that is said.
  std::unique_ptr<Space> space(TargetPresence presence = TargetPresence::Required);
  /// The same without remarks on what its modules lack: only its target is used.
  std::unique_ptr<Space> space_for_target();
  /// The space chosen: of the spaces file, else a built-in one, else UserError.
  const SpaceSpec& spec() const;
  /// That of the built-in default space, for spaces that name none.
  PluginUse usual_task_scheduler() const;
  /// The tensor intrinsics of the space's extensions, for who replays traces and composes no space.
  std::shared_ptr<const TensorIntrinsics> read_extensions();
  /// What a worker needs to make the space's target.
  WorkerTarget worker_target() const;

 private:
  Common common_;
  SpacesFile spaces_;
  std::optional<SpacesFile> builtin_;  // where `spaces_` is another file
  std::unique_ptr<PluginRegistry> registry_;
};

/// Tells the user, on standard error, which extensions, and instructions of them, the space does without.
void tell_refused(const Space& space);
/// And which hints of its modules nobody carries out.
void tell_unconsumed(const Space& space);

/// The machine's lock, which says on standard error when it is waited for.
std::shared_ptr<MachineLock> machine_lock();

/// The spaces file to use; says on standard error when it is one that was found here and not asked for.
/// Throws UserError when it is not there.
std::string find_spaces_file(const Common& common);
/// Where plugins are looked for. They may be loaded next, so standard output is kept from them (output.h)
/// where the process is the command's own.
PluginSearch plugin_search(const Common& common, const SpacesFile* spaces);
/// $XDG_DATA_HOME/tunesmith/records.db, or ~/.local/share/tunesmith/records.db; or `asked`.
std::string database_path(const std::string& asked);
/// Opens the store there (a folder that is not there is made only for the default's place), and tells the
/// user when it was brought up to date from an older schema, or read as if it had been.
RecordStore open_records(const std::string& asked, RecordStore::Mode mode = RecordStore::Mode::Create);
/// Tells the user, on standard error.
void tell(const MigrationReport& migration);

}  // namespace tunesmith::cli
