#include "session.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "output.h"

namespace tunesmith::cli {

std::string find_spaces_file(const std::string& asked) {
  namespace fs = std::filesystem;
  if (!asked.empty()) return asked;
  if (fs::exists("spaces.yaml")) return "spaces.yaml";
  // Beside the built-in workloads: <prefix>/share/tunesmith when installed, the source tree otherwise.
  const fs::path with_workloads = builtin_workload_folder().parent_path() / "spaces.yaml";
  if (fs::exists(with_workloads)) return with_workloads.string();
  throw UserError("no spaces.yaml here, nor beside the built-in workloads", "name one with --spaces");
}

PluginSearch plugin_search(const Common& common, const SpacesFile* spaces) {
  keep_output_from_plugins();
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

Session::Session(const Common& common)
    : common_(common),
      spaces_(SpacesFile::load(find_spaces_file(common.spaces_file))),
      registry_(std::make_unique<PluginRegistry>(plugin_search(common, &spaces_))) {
  // An id that is there twice is nobody's wish.
  for (const PluginLogEntry& entry : registry_->log()) {
    if (entry.outcome == PluginLogEntry::Outcome::Refused && entry.detail.starts_with("[P7]"))
      fmt::print(stderr, "tunesmith: {} is refused: {}\n", entry.path.string(), entry.detail);
  }
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  watch_plugins({common.plugin_seconds, static_cast<int64_t>(common.plugin_gibibytes * kGibibyte)});
}

std::unique_ptr<Space> Session::space() {
  return std::make_unique<Space>(spaces_.space(common_.space), *registry_);
}

void Session::read_extensions() { tunesmith::read_extensions(spaces_.space(common_.space), *registry_); }

WorkerTarget Session::worker_target() const {
  const PluginUse& target = spaces_.space(common_.space).target;
  WorkerTarget worker{target.id, target.options, common_.plugin_paths, common_.lock_file};
  worker.plugin_paths.insert(worker.plugin_paths.end(), spaces_.plugin_paths().begin(),
                             spaces_.plugin_paths().end());
  return worker;
}

std::shared_ptr<MachineLock> machine_lock() {
  return std::make_shared<MachineLock>(MachineLock::default_file(), [](const std::string& line) {
    fmt::print(stderr, "tunesmith: {}\n", line);
  });
}

std::string database_path(const std::string& asked) {
  if (!asked.empty()) return asked;
  namespace fs = std::filesystem;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data != nullptr && *data != '\0') return (fs::path(data) / "tunesmith" / "records.db").string();
  if (home != nullptr && *home != '\0')
    return (fs::path(home) / ".local/share/tunesmith/records.db").string();
  throw UserError("neither HOME nor XDG_DATA_HOME is set", "name the database with --database");
}

RecordStore open_records(const std::string& asked, RecordStore::Mode mode) {
  RecordStore store(database_path(asked), mode);
  if (store.migration()) tell(*store.migration());
  return store;
}

void tell(const MigrationReport& migration) {
  fmt::print(
      stderr,
      "tunesmith: the record store was of schema {} and is of schema {} now; as it was it is in {}. Its {} "
      "records do not say with how many threads nor as which compiled program they were measured: they "
      "are kept as unattributed, and neither tune nor build uses them.\n",
      migration.from_schema, kRecordSchema, migration.copy.string(), migration.records);
  for (const std::string& fault : migration.left_out)
    fmt::print(stderr, "tunesmith: damaged, and in that copy alone: {}\n", fault);
}

}  // namespace tunesmith::cli
