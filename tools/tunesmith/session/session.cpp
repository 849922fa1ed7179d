#include "session.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include <tunesmith/measuring/machine_lock.h>

#include "output.h"
#include "say.h"

namespace tunesmith::cli {

namespace fs = std::filesystem;

namespace {

/// <prefix>/share/tunesmith if installed, else the source tree, like the built-in workloads.
fs::path builtin_spaces_file() { return builtin_workload_folder().parent_path() / "spaces.yaml"; }

bool is_builtin(const fs::path& file) {
  std::error_code error;
  return fs::equivalent(file, builtin_spaces_file(), error);
}

bool has(const SpacesFile& file, const std::string& name) {
  const std::vector<std::string> names = file.names();
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string find_spaces_file(const Common& common) {
  if (!common.spaces_file.empty()) return common.spaces_file;
  if (fs::exists("spaces.yaml")) {
    if (!is_builtin("spaces.yaml") && !common.quiet)
      say("using ./spaces.yaml; choose another file with --spaces");
    return "spaces.yaml";
  }
  const fs::path with_workloads = builtin_spaces_file();
  if (fs::exists(with_workloads)) return with_workloads.string();
  throw UserError("no spaces.yaml in the current folder or beside the built-in workloads",
                  "give one with --spaces");
}

PluginSearch plugin_search(const Common& common, const SpacesFile* spaces) {
  if (common.owns_process) keep_output_from_plugins();
  PluginSearch search;
  for (const std::string& path : common.plugin_paths) search.command_line.push_back({path, {}});
  if (spaces != nullptr) {
    for (const std::string& path : spaces->plugin_paths()) {
      search.spaces.push_back({path, SourceLocation{spaces->file(), 0, 0}});
    }
  }
  if (!common.lock_file.empty()) search.lock_file = common.lock_file;
  return search;
}

Session::Session(const Common& common) : Session(common, SpacesFile::load(find_spaces_file(common))) {}

Session::Session(const Common& common, SpacesFile spaces)
    : common_(common),
      spaces_(std::move(spaces)),
      registry_(std::make_unique<PluginRegistry>(plugin_search(common, &spaces_))) {
  if (!is_builtin(spaces_.file()) && fs::exists(builtin_spaces_file()))
    builtin_ = SpacesFile::load(builtin_spaces_file());
  // A duplicate id is always a mistake.
  for (const PluginLogEntry& entry : registry_->log()) {
    if (entry.outcome == PluginLogEntry::Outcome::Refused && entry.detail.starts_with("[P7]"))
      say(fmt::format("{} is refused: {}", entry.path.string(), entry.detail));
  }
  if (!common.owns_process) return;
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  watch_plugins({common.plugin_seconds, static_cast<int64_t>(common.plugin_gibibytes * kGibibyte)});
}

const SpaceSpec& Session::spec() const {
  const std::string& name = common_.space;
  if (name.empty() || !builtin_ || has(spaces_, name)) return spaces_.space(name);
  if (has(*builtin_, name)) return builtin_->space(name);
  std::vector<std::string> known = spaces_.names();
  for (const std::string& other : builtin_->names()) known.push_back(other);
  throw UserError(SourceLocation{spaces_.file()}, fmt::format("no space '{}'", name), suggest(name, known));
}

void Session::prefer_space(const std::string& name) {
  if (!common_.space.empty() || (!has(spaces_, name) && !(builtin_ && has(*builtin_, name)))) return;
  common_.space = name;
}

PluginUse Session::usual_task_scheduler() const {
  return (builtin_ ? *builtin_ : spaces_).space("").task_scheduler;
}

std::shared_ptr<const TensorIntrinsics> Session::read_extensions() {
  return tunesmith::read_extensions(spec(), *registry_);
}

std::unique_ptr<Space> Session::space(TargetPresence presence) {
  auto space = std::make_unique<Space>(spec(), *registry_, presence);
  if (const ProbeResult probe = space->target().probe(); !probe.here() && !common_.quiet) {
    say(fmt::format("programs of space '{}' can be shown but not run: this machine lacks {}",
                    space->spec().name, probe.missing));
  }
  tell_refused(*space);
  tell_unconsumed(*space);
  return space;
}

std::unique_ptr<Space> Session::space_for_target() { return std::make_unique<Space>(spec(), *registry_); }

WorkerTarget Session::worker_target() const {
  const PluginUse& target = spec().target;
  WorkerTarget worker{target.id, target.options, common_.plugin_paths, common_.lock_file};
  worker.plugin_paths.insert(worker.plugin_paths.end(), spaces_.plugin_paths().begin(),
                             spaces_.plugin_paths().end());
  return worker;
}

void tell_refused(const Space& space) {
  for (const RefusedIntrinsic& refused : space.refused_intrinsics())
    say(fmt::format("{}; space '{}' continues without it", refused.str(), space.spec().name));
  for (const AbsentExtension& absent : space.absent_extensions())
    say(fmt::format("{}; space '{}' continues without it", absent.str(), space.spec().name));
}

void tell_unconsumed(const Space& space) {
  for (const UnconsumedAnnotation& hint : space.unconsumed_annotations()) {
    say(fmt::format("{}: it has no effect; `tunesmith spaces lint` lists modules that would consume it",
                    hint.str()));
  }
}

std::shared_ptr<MachineLock> machine_lock() {
  return std::make_shared<MachineLock>(MachineLock::default_file(), say);
}

std::string database_path(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data != nullptr && *data != '\0') return (fs::path(data) / "tunesmith" / "records.db").string();
  if (home != nullptr && *home != '\0')
    return (fs::path(home) / ".local/share/tunesmith/records.db").string();
  throw UserError("neither HOME nor XDG_DATA_HOME is set", "give a record store with --database");
}

RecordStore open_records(const std::string& asked, RecordStore::Mode mode) {
  const fs::path folder = fs::path(asked).parent_path();
  if (mode == RecordStore::Mode::Create && !asked.empty() && !folder.empty() && !fs::exists(folder))
    throw UserError(SourceLocation{asked}, fmt::format("no such folder '{}'", folder.string()),
                    "create it, or correct --database");
  RecordStore store(database_path(asked), mode);
  // Readers may open the store repeatedly and find the same migration each time.
  static std::set<fs::path> told;
  if (store.migration() && (mode != RecordStore::Mode::Read || told.insert(store.path()).second))
    tell(*store.migration());
  store.on_damage([](const std::string& fault) {
    static std::set<std::string> told_faults;
    if (told_faults.insert(fault).second) say(fault + "; it is left out");
  });
  return store;
}

void tell(const MigrationReport& migration) {
  const std::string became =
      migration.copy.empty()
          ? fmt::format(
                "has schema {} and was only read; tune and records import convert a store to schema {}",
                migration.from_schema, kRecordSchema)
          : fmt::format("was converted from schema {} to schema {}; the original is in {}",
                        migration.from_schema, kRecordSchema, migration.copy.string());
  say(fmt::format("the record store {}; it has {} records.", became, migration.records));
  if (migration.left_out > 0)
    say(fmt::format("{} records from before schema 3 do not identify their programs and are left out",
                    migration.left_out));
}

}  // namespace tunesmith::cli
