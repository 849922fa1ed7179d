#include "tunesmith/records/record_store.h"

#include <fmt/format.h>

#include "records/store_impl.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
const Record& sound(const StoredRow& row, const sqlite::Database& database) {
  if (const Record* record = row.record()) return *record;
  throw EnvironmentError(fmt::format("{}: record '{}' is damaged: {}; run 'tunesmith records check'",
                                     database.path().string(), row.id, std::get<std::string>(row.content)));
}
}  // namespace

RecordStore::RecordStore(const std::filesystem::path& path, Mode mode)
    : impl_(std::make_unique<Impl>(path, mode)) {}
RecordStore::~RecordStore() = default;
RecordStore::RecordStore(RecordStore&&) noexcept = default;
RecordStore& RecordStore::operator=(RecordStore&&) noexcept = default;

const std::filesystem::path& RecordStore::path() const { return impl_->database.path(); }

void RecordStore::add_environment(const Environment& environment) {
  const std::lock_guard lock(impl_->mutex);
  impl_->insert_environment(environment);
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
  impl_->scan_environments([&](const StoredEnvironment& stored) {
    if (const Environment* sound_one = stored.environment()) all.push_back(*sound_one);
  });
  return all;
}

bool RecordStore::add(const Record& record) { return add(std::span(&record, 1)) == 1; }

size_t RecordStore::add(std::span<const Record> records) {
  for (const Record& record : records) {
    if (const std::string fault = record_fault(record); !fault.empty()) {
      throw InternalError(fmt::format("record '{}' is not fit for the store: {}", record.id, fault));
    }
  }
  const std::lock_guard lock(impl_->mutex);
  sqlite::Transaction transaction(impl_->database);
  size_t added = 0;
  for (const Record& record : records) {
    const Impl::Insertion insertion = impl_->insert(record);
    check_invariant(insertion != Impl::Insertion::UnknownEnvironment,
                    "a record's environment is added before it");
    if (insertion == Impl::Insertion::Added) ++added;
  }
  transaction.commit();
  return added;
}

std::optional<Record> RecordStore::find(std::string_view id) const {
  const std::lock_guard lock(impl_->mutex);
  auto row =
      impl_->database.prepare(fmt::format("SELECT {} FROM {} WHERE r.id = ?", kRecordColumns, kRecordTables));
  if (!row.bind(id).step()) return std::nullopt;
  return sound(read_row(row, false), impl_->database);
}

size_t RecordStore::count(const RecordFilter& filter) const {
  const std::lock_guard lock(impl_->mutex);
  const Condition condition = condition_of(filter);
  auto row =
      impl_->database.prepare(fmt::format("SELECT count(*) FROM {} WHERE {}", kRecordTables, condition.sql));
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
  impl_->scan(filter, false, [&](const StoredRow& row) { visit(sound(row, impl_->database)); });
}

std::vector<Record> RecordStore::best(const RecordFilter& filter, size_t n) const {
  RecordFilter succeeded = filter;
  succeeded.ok = true;
  const Condition condition = condition_of(succeeded);
  const std::lock_guard lock(impl_->mutex);
  auto rows = impl_->database.prepare(fmt::format(
      "SELECT {} FROM {} JOIN (SELECT r.seq, row_number() OVER (PARTITION BY w.hash, r.target, "
      "r.environment, r.program_hash ORDER BY r.sample_count DESC, r.seq DESC) AS place FROM {} WHERE {}) p "
      "ON p.seq = r.seq WHERE p.place = 1 ORDER BY r.seconds_min, r.seq LIMIT ?",
      kRecordColumns, kRecordTables, kRecordTables, condition.sql));
  condition.bind(rows);
  rows.bind(static_cast<int64_t>(n));
  std::vector<Record> fastest;
  while (rows.step()) fastest.push_back(sound(read_row(rows, false), impl_->database));
  return fastest;
}

}  // namespace tunesmith
