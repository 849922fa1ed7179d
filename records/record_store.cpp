#include "tunesmith/records/record_store.h"

#include <set>

#include <fmt/format.h>

#include "schema.h"
#include "store_impl.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/target/target_identity.h"

namespace tunesmith {

namespace {
constexpr int kBusyMs = 30'000;

/// SQLite considers a file without pages an empty database.
constexpr uintmax_t kMinFileBytes = 512;

std::filesystem::path made_ready(const std::filesystem::path& path, RecordStore::Mode mode) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (!error && bytes > 0 && bytes < kMinFileBytes)
    throw UserError({path.string()}, "not a record store, or its header is damaged", "give another file");
  if (mode != RecordStore::Mode::Create) {
    if (!std::filesystem::exists(path, error)) {
      throw UserError({path.string()}, "no such record store", "tune first, or give another file");
    }
  } else if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      throw EnvironmentError(fmt::format("{}: cannot create the folder for the record store: {}",
                                         path.string(), error.message()));
    }
  }
  return path;
}
}  // namespace

RecordStore::Impl::Impl(const std::filesystem::path& path, Mode mode)
    : database(made_ready(path, mode), mode == Mode::Create, kBusyMs),
      migration(mode == Mode::Read     ? read_schema(database)
                : mode == Mode::Rescue ? rescue_schema(database)
                                       : prepare_schema(database)) {}

std::optional<Record> RecordStore::Impl::readable_record(const sqlite::Statement& row) const {
  if (!on_damage) return sound_record(row, database);
  try {
    return sound_record(row, database);
  } catch (const EnvironmentError& error) {
    on_damage(error.what());
    return std::nullopt;
  }
}

RecordStore::RecordStore(const std::filesystem::path& path, Mode mode)
    : impl_(std::make_unique<Impl>(path, mode)) {}
RecordStore::~RecordStore() = default;
RecordStore::RecordStore(RecordStore&&) noexcept = default;
RecordStore& RecordStore::operator=(RecordStore&&) noexcept = default;

const std::filesystem::path& RecordStore::path() const { return impl_->database.path(); }
const std::optional<MigrationReport>& RecordStore::migration() const { return impl_->migration; }

void RecordStore::on_damage(std::function<void(const std::string&)> tell) {
  const std::lock_guard lock(impl_->mutex);
  impl_->on_damage = std::move(tell);
}

void RecordStore::add_environment(const Environment& environment) {
  const std::lock_guard lock(impl_->mutex);
  insert_environment(impl_->database, environment);
}

std::optional<Environment> RecordStore::environment(uint64_t hash) const {
  const std::lock_guard lock(impl_->mutex);
  auto row = impl_->database.prepare("SELECT text FROM environment WHERE hash = ?");
  if (!row.bind(hex64(hash)).step()) return std::nullopt;
  return Environment::parse(row.text(0));
}

std::vector<Environment> RecordStore::environments() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<Environment> all;
  scan_environments(impl_->database, [&](const Stored<Environment>& stored) {
    if (const Environment* environment = stored.value()) all.push_back(*environment);
  });
  return all;
}

void RecordStore::add_workload(const RecordedWorkload& workload) {
  const std::lock_guard lock(impl_->mutex);
  insert_workload(impl_->database, workload);
}

void RecordStore::mend_workload(const RecordedWorkload& workload) {
  const std::lock_guard lock(impl_->mutex);
  impl_->database.prepare("UPDATE workload SET definition = ?, checksum = ? WHERE hash = ? AND text = ?")
      .bind(workload.definition)
      .bind(checksum_of(workload))
      .bind(hex64(workload.hash))
      .bind(workload.text)
      .run();
}

std::optional<RecordedWorkload> RecordStore::workload(uint64_t hash) const {
  const std::lock_guard lock(impl_->mutex);
  auto row = impl_->database.prepare(
      "SELECT text, definition FROM workload WHERE hash = ? AND definition IS NOT NULL ORDER BY id LIMIT 1");
  if (!row.bind(hex64(hash)).step()) return std::nullopt;
  return RecordedWorkload{hash, row.text(0), row.text(1)};
}

std::optional<RecordedWorkload> RecordStore::workload(uint64_t hash, std::string_view text) const {
  const std::lock_guard lock(impl_->mutex);
  auto row = impl_->database.prepare("SELECT definition FROM workload WHERE hash = ? AND text = ?");
  if (!row.bind(hex64(hash)).bind(text).step()) return std::nullopt;
  return RecordedWorkload{hash, std::string(text), row.text(0)};
}

void RecordStore::add_space(const RecordedSpace& space) {
  const std::lock_guard lock(impl_->mutex);
  insert_space(impl_->database, space);
}

std::optional<RecordedSpace> RecordStore::space(std::string_view name, uint64_t rules_hash) const {
  const std::lock_guard lock(impl_->mutex);
  auto row = impl_->database.prepare("SELECT rules FROM space WHERE name = ? AND rules_hash = ?");
  if (!row.bind(name).bind(hex64(rules_hash)).step()) return std::nullopt;
  return RecordedSpace{std::string(name), rules_hash, row.text(0)};
}

void RecordStore::add_run(const RecordedRun& run) {
  check_invariant(!run.id.empty() && run.began_ms > 0, "a run has an id and a beginning");
  const std::lock_guard lock(impl_->mutex);
  sqlite::Transaction transaction(impl_->database);
  check_invariant(insert_run(impl_->database, run) == Insertion::Added,
                  "a run is new, and its space and environment are added before it");
  transaction.commit();
}

void RecordStore::end_run(std::string_view id, int64_t ended_ms, std::string_view because) {
  const std::string one(id);
  end_runs({&one, 1}, ended_ms, because);
}

void RecordStore::end_runs(std::span<const std::string> ids, int64_t ended_ms, std::string_view because) {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Transaction transaction(impl_->database);
  for (const std::string& id : ids) {
    std::optional<RecordedRun> run = find_run(impl_->database, id);
    check_invariant(run && run->ended_ms == 0, "a run that ends has begun and has not ended");
    run->ended_ms = ended_ms;
    run->ended_because = because;
    insert_run(impl_->database, *run);
  }
  transaction.commit();
}

std::optional<RecordedRun> RecordStore::run(std::string_view id) const {
  const std::lock_guard lock(impl_->mutex);
  return find_run(impl_->database, id);
}

void RecordStore::add_roof(const RecordedRoof& roof) {
  check_invariant(roof_fault(roof).empty(), "a roof that is recorded is fit");
  const std::lock_guard lock(impl_->mutex);
  sqlite::Transaction transaction(impl_->database);
  check_invariant(insert_roof(impl_->database, roof) == Insertion::Added,
                  "a roof is new, and its environment is added before it");
  transaction.commit();
}

std::vector<RecordedRoof> RecordStore::roofs() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<RecordedRoof> all;
  scan_roofs(impl_->database, [&](const Stored<RecordedRoof>& stored) {
    if (const RecordedRoof* roof = stored.value()) all.push_back(*roof);
  });
  return all;
}

std::optional<RecordedRoof> RecordStore::highest_roof(const TaskKey& task, uint64_t machine,
                                                      std::string_view quantity) const {
  std::set<uint64_t> its;
  for (const Environment& environment : environments()) {
    if (environment.machine() == machine) its.insert(environment.hash());
  }
  const std::string of_a_unit = fmt::format("{} of ", quantity);
  // Extensions do not affect the processor's own peak.
  const auto is_it = [&](const RecordedRoof& roof) {
    if (roof.quantity == quantity) return same_but_extensions(roof.target, task.target);
    return roof.quantity.starts_with(of_a_unit) && roof.target == task.target;
  };
  std::optional<RecordedRoof> highest;
  for (const RecordedRoof& roof : roofs()) {
    if (roof.threads != task.threads || roof.device != task.device || !its.contains(roof.environment) ||
        !is_it(roof))
      continue;
    if (!highest || roof.per_second > highest->per_second) highest = roof;
  }
  return highest;
}

bool RecordStore::add(const Record& record) { return add(std::span(&record, 1)) == 1; }

size_t RecordStore::add(std::span<const Record> records) {
  for (const Record& record : records) {
    if (const std::string fault = record_fault(record); !fault.empty()) {
      throw InternalError(fmt::format("record '{}' cannot be stored: {}", record.id, fault));
    }
  }
  const std::lock_guard lock(impl_->mutex);
  sqlite::Transaction transaction(impl_->database);
  size_t added = 0;
  for (const Record& record : records) {
    const Insertion insertion = insert_record(impl_->database, record);
    check_invariant(insertion != Insertion::UnknownReference,
                    "a record's environment, workload and run are added before it");
    check_invariant(insertion != Insertion::ContradictsItsRun,
                    "a record has the seed, the space and the environment of its run");
    if (insertion == Insertion::Added) ++added;
  }
  transaction.commit();
  return added;
}

std::optional<Record> RecordStore::find(std::string_view id) const {
  const std::lock_guard lock(impl_->mutex);
  auto row = impl_->database.prepare(fmt::format("SELECT {} FROM record WHERE id = ?", kRecordColumns));
  if (!row.bind(id).step()) return std::nullopt;
  return sound_record(row, impl_->database);
}

size_t RecordStore::count(const RecordFilter& filter) const {
  const std::lock_guard lock(impl_->mutex);
  const Condition condition = condition_of(filter);
  auto row = impl_->database.prepare(fmt::format("SELECT count(*) FROM record WHERE {}", condition.sql));
  condition.bind(row);
  check_invariant(row.step(), "a count gives a row");
  return static_cast<size_t>(row.integer(0));
}

std::vector<Record> RecordStore::list(const RecordFilter& filter) const {
  std::vector<Record> all;
  for_each(filter, [&](const Record& record) { all.push_back(record); });
  return all;
}

void RecordStore::for_each(const RecordFilter& filter,
                           const std::function<void(const Record&)>& visit) const {
  const std::lock_guard lock(impl_->mutex);
  const Condition condition = condition_of(filter);
  auto rows = impl_->database.prepare(
      fmt::format("SELECT {} FROM record WHERE {} ORDER BY seq", kRecordColumns, condition.sql));
  condition.bind(rows);
  while (rows.step()) {
    if (const std::optional<Record> record = impl_->readable_record(rows)) visit(*record);
  }
}

}  // namespace tunesmith
