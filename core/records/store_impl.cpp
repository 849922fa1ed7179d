#include "records/store_impl.h"

#include <charconv>

#include <fmt/format.h>

#include "records/record_json.h"
#include "records/schema.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

const char* const kRecordColumns =
    "r.id, w.text, w.hash, t.text, r.environment, r.space, r.rules_hash, r.trace, r.trace_version, "
    "r.program_hash, "
    "r.cause, r.message, r.seconds_min, r.seconds_median, r.samples, r.seconds_prepare, r.verified_error, "
    "r.seed, r.candidate, "
    "r.time_ms, "
    "r.checksum";
const char* const kRecordTables =
    "record r JOIN workload w ON w.id = r.workload JOIN target t ON t.id = r.target "
    "JOIN environment e ON e.hash = r.environment";

namespace {
constexpr int kBusyMs = 30'000;

uint64_t stored_hash(const std::string& text) {
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc{} || end != text.data() + text.size()) throw UserError("a hash is not hexadecimal");
  return hash;
}

Record decode(const sqlite::Statement& row) {
  int column = 0;
  Record r;
  r.id = row.text(column++);
  r.workload = row.text(column++);
  r.workload_hash = stored_hash(row.text(column++));
  r.target = row.text(column++);
  r.environment = stored_hash(row.text(column++));
  r.space = row.text(column++);
  r.rules_hash = stored_hash(row.text(column++));
  r.trace = row.text(column++);
  r.trace_version = static_cast<int>(row.integer(column++));
  r.program_hash = stored_hash(row.text(column++));
  if (!row.is_null(column)) {
    const auto cause = parse_failure_cause(row.text(column));
    if (!cause) throw UserError(fmt::format("unknown cause of failure '{}'", row.text(column)));
    r.failure = CandidateFailure{*cause, row.text(column + 1)};
  }
  column += 2;
  if (!row.is_null(column)) {
    r.timing = Timing{row.real(column), row.real(column + 1), parse_samples(row.text(column + 2)),
                      row.real(column + 3)};
  }
  column += 4;
  if (!row.is_null(column)) r.verified_error = row.real(column);
  ++column;
  r.seed = static_cast<uint64_t>(row.integer(column++));
  r.candidate = static_cast<uint64_t>(row.integer(column++));
  r.time_ms = row.integer(column);
  return r;
}

constexpr int kChecksumColumn = 20;
}  // namespace

StoredRow read_row(const sqlite::Statement& row, bool verify) {
  StoredRow stored{row.text(0), {}};
  try {
    Record record = decode(row);
    if (const std::string fault = record_fault(record); !fault.empty()) {
      stored.content = fault;
    } else if (verify && json_checksum(record_json(record)) != row.text(kChecksumColumn)) {
      stored.content = "its checksum does not fit its content";
    } else {
      stored.content = std::move(record);
    }
  } catch (const UserError& error) {
    stored.content = std::string(error.what());
  }
  return stored;
}

void Condition::bind(sqlite::Statement& statement) const {
  for (const auto& parameter : parameters) {
    std::visit([&](const auto& value) { statement.bind(value); }, parameter);
  }
}

Condition condition_of(const RecordFilter& filter) {
  Condition condition{"1", {}};
  const auto require = [&](const char* test, std::variant<std::string, int64_t> value) {
    condition.sql += fmt::format(" AND {} = ?", test);
    condition.parameters.push_back(std::move(value));
  };
  if (filter.workload_hash) require("w.hash", hex64(*filter.workload_hash));
  if (filter.workload) require("w.text", *filter.workload);
  if (filter.target) require("t.text", *filter.target);
  if (filter.environment) require("r.environment", hex64(*filter.environment));
  if (filter.machine) require("e.machine", hex64(*filter.machine));
  if (filter.space) require("r.space", *filter.space);
  if (filter.rules_hash) require("r.rules_hash", hex64(*filter.rules_hash));
  if (filter.seed) require("r.seed", static_cast<int64_t>(*filter.seed));
  if (filter.ok) require("r.status", *filter.ok ? "ok" : "failed");
  if (filter.cause) require("r.cause", std::string(failure_cause_name(*filter.cause)));
  return condition;
}

namespace {
std::filesystem::path made_ready(const std::filesystem::path& path, RecordStore::Mode mode) {
  std::error_code error;
  if (mode == RecordStore::Mode::Existing) {
    if (!std::filesystem::exists(path, error)) {
      throw UserError({path.string()}, "there is no record store here", "tune first, or name another file");
    }
  } else if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      throw EnvironmentError(fmt::format("{}: the folder for the record store cannot be made: {}",
                                         path.string(), error.message()));
    }
  }
  return path;
}
}  // namespace

RecordStore::Impl::Impl(const std::filesystem::path& path, Mode mode)
    : database(made_ready(path, mode), mode == Mode::Create, kBusyMs) {
  prepare_schema(database);
}

void RecordStore::Impl::insert_environment(const Environment& environment) {
  database.prepare("INSERT INTO environment (hash, machine, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(hex64(environment.hash()))
      .bind(hex64(environment.machine()))
      .bind(environment.text())
      .run();
}

int64_t RecordStore::Impl::workload_id(const Record& record) {
  const std::string hash = hex64(record.workload_hash);
  {
    auto known = database.prepare("SELECT id FROM workload WHERE hash = ? AND text = ?");
    if (known.bind(hash).bind(record.workload).step()) return known.integer(0);
  }
  database.prepare("INSERT INTO workload (hash, text) VALUES (?, ?)").bind(hash).bind(record.workload).run();
  return database.last_row();
}

int64_t RecordStore::Impl::target_id(const Record& record) {
  {
    auto known = database.prepare("SELECT id FROM target WHERE text = ?");
    if (known.bind(record.target).step()) return known.integer(0);
  }
  database.prepare("INSERT INTO target (text) VALUES (?)").bind(record.target).run();
  return database.last_row();
}

RecordStore::Impl::Insertion RecordStore::Impl::insert(const Record& record) {
  const std::string checksum = json_checksum(record_json(record));
  {
    auto known = database.prepare("SELECT checksum FROM record WHERE id = ?");
    if (known.bind(record.id).step())
      return known.text(0) == checksum ? Insertion::Known : Insertion::Conflict;
  }
  {
    auto environment = database.prepare("SELECT 1 FROM environment WHERE hash = ?");
    if (!environment.bind(hex64(record.environment)).step()) return Insertion::UnknownEnvironment;
  }
  const int64_t workload = workload_id(record);
  const int64_t target = target_id(record);
  auto row = database.prepare(
      "INSERT INTO record (id, workload, target, environment, space, rules_hash, trace, trace_version, "
      "program_hash, "
      "status, cause, message, seconds_min, seconds_median, samples, sample_count, seconds_prepare, "
      "verified_error, seed, "
      "candidate, "
      "time_ms, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.bind(record.id).bind(workload).bind(target).bind(hex64(record.environment));
  row.bind(record.space).bind(hex64(record.rules_hash));
  row.bind(record.trace).bind(int64_t{record.trace_version}).bind(hex64(record.program_hash));
  row.bind(std::string_view(record.ok() ? "ok" : "failed"));
  if (record.failure) {
    row.bind(failure_cause_name(record.failure->cause)).bind(record.failure->message);
  } else {
    row.bind_null().bind_null();
  }
  if (record.timing) {
    row.bind(record.timing->min).bind(record.timing->median).bind(samples_json(record.timing->samples));
    row.bind(static_cast<int64_t>(record.timing->samples.size()));
  } else {
    row.bind_null().bind_null().bind_null().bind(int64_t{0});
  }
  if (record.timing && record.timing->prepare > 0.0) {
    row.bind(record.timing->prepare);
  } else {
    row.bind_null();
  }
  if (record.verified_error) {
    row.bind(*record.verified_error);
  } else {
    row.bind_null();
  }
  row.bind(static_cast<int64_t>(record.seed)).bind(static_cast<int64_t>(record.candidate));
  row.bind(record.time_ms).bind(checksum).run();
  return Insertion::Added;
}

void RecordStore::Impl::scan(const RecordFilter& filter, bool verify,
                             const std::function<void(const StoredRow&)>& visit) {
  const Condition condition = condition_of(filter);
  auto rows = database.prepare(
      fmt::format("SELECT {} FROM {} WHERE {} ORDER BY r.seq", kRecordColumns, kRecordTables, condition.sql));
  condition.bind(rows);
  while (rows.step()) visit(read_row(rows, verify));
}

void RecordStore::Impl::scan_environments(const std::function<void(const StoredEnvironment&)>& visit) {
  auto rows = database.prepare("SELECT hash, machine, text FROM environment ORDER BY hash");
  while (rows.step()) {
    StoredEnvironment stored{rows.text(0), {}};
    try {
      const Environment environment = Environment::parse(rows.text(2));
      if (hex64(environment.hash()) == stored.hash && hex64(environment.machine()) == rows.text(1)) {
        stored.content = environment;
      } else {
        stored.content = "its hash does not fit its content";
      }
    } catch (const UserError& error) {
      stored.content = error.what();
    }
    visit(stored);
  }
}

}  // namespace tunesmith
