// Reading records: the view `record` joins a measurement with its program, task and run.
#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

const char* const kRecordColumns =
    "id, workload, workload_hash, target, threads, device, run, environment, space, rules_hash, seed, trace, "
    "trace_version, lowered_hash, kind, ranking, candidate, cause, message, seconds, seconds_min, "
    "seconds_median, samples, seconds_prepare, disturbed, verified_error, time_ms, round, score, "
    "verified_on, verifier, times_at, checksum";

namespace {
constexpr int kChecksumColumn = 32;

Record decode(const sqlite::Statement& row) {
  int column = 0;
  Record r;
  r.id = row.text(column++);
  r.workload = row.text(column++);
  r.workload_hash = parse_hash(row.text(column++));
  r.target = row.text(column++);
  r.threads = static_cast<int>(row.integer(column++));
  r.device = row.text(column++);
  r.run = row.text(column++);
  r.environment = parse_hash(row.text(column++));
  r.space = row.text(column++);
  r.rules_hash = parse_hash(row.text(column++));
  r.seed = static_cast<uint64_t>(row.integer(column++));
  r.trace = row.text(column++);
  r.trace_version = static_cast<int>(row.integer(column++));
  r.lowered_hash = parse_hash(row.text(column++));
  const auto kind = parse_measurement_kind(row.text(column++));
  if (!kind) throw UserError("unknown kind of measurement");
  r.kind = *kind;
  r.ranking = static_cast<int>(row.integer(column++));
  r.candidate = static_cast<uint64_t>(row.integer(column++));
  if (!row.is_null(column)) {
    const auto cause = parse_failure_cause(row.text(column));
    if (!cause) throw UserError(fmt::format("unknown cause of failure '{}'", row.text(column)));
    r.failure = CandidateFailure{*cause, row.text(column + 1)};
  }
  column += 2;
  if (!row.is_null(column)) {
    r.seconds = row.real(column);
    r.timing = Timing{row.real(column + 1), row.real(column + 2), parse_samples(row.text(column + 3)),
                      row.real(column + 4)};
  }
  column += 5;
  if (!row.is_null(column)) r.disturbed = row.integer(column) != 0;
  ++column;
  if (!row.is_null(column)) r.verified_error = row.real(column);
  ++column;
  r.time_ms = row.integer(column++);
  r.round = static_cast<int>(row.integer(column++));
  if (!row.is_null(column)) r.score = row.real(column);
  ++column;
  if (!row.is_null(column)) r.verified_on = row.text(column);
  ++column;
  if (!row.is_null(column)) r.verifier = static_cast<int>(row.integer(column));
  ++column;
  if (r.timing && !row.is_null(column)) r.timing->at = parse_times_at(row.text(column));
  return r;
}

/// With `verify`, compares the checksum.
Stored<Record> read_record(const sqlite::Statement& row, bool verify) {
  Stored<Record> stored{fmt::format("record '{}'", row.text(0)), {}};
  try {
    Record record = decode(row);
    if (const std::string fault = record_fault(record); !fault.empty()) {
      stored.content = fault;
    } else if (verify && checksum_of(record) != row.text(kChecksumColumn)) {
      stored.content = "its checksum does not match its content";
    } else {
      stored.content = std::move(record);
    }
  } catch (const UserError& error) {
    stored.content = std::string(error.what());
  }
  return stored;
}
/// Of the latest row; if it is unreadable, of the latest row that the file can contain.
int64_t last_sequence_number(sqlite::Database& database) {
  constexpr int64_t kMinRowBytes = 128;
  try {
    auto row = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'measurement'");
    if (row.step()) return row.integer(0);
  } catch (const sqlite::DamagedFile&) {
    return static_cast<int64_t>(std::filesystem::file_size(database.path())) / kMinRowBytes;
  }
  return 0;
}
}  // namespace

Record sound_record(const sqlite::Statement& row, const sqlite::Database& database) {
  Stored<Record> stored = read_record(row, false);
  if (Record* record = std::get_if<Record>(&stored.content)) return std::move(*record);
  throw EnvironmentError(fmt::format("{}: {} is damaged: {}; run 'tunesmith records check'",
                                     database.path().string(), stored.name, stored.fault()));
}

void Condition::bind(sqlite::Statement& statement) const {
  for (const auto& parameter : parameters) {
    std::visit([&](const auto& value) { statement.bind(value); }, parameter);
  }
}

Condition condition_of(const RecordFilter& filter) {
  Condition condition{"1", {}};
  const auto require = [&](const char* column, std::variant<std::string, int64_t> value) {
    condition.sql += fmt::format(" AND {} = ?", column);
    condition.parameters.push_back(std::move(value));
  };
  if (filter.task) {
    require("workload_hash", hex64(filter.task->workload_hash));
    require("target", filter.task->target);
    require("threads", int64_t{filter.task->threads});
    require("device", filter.task->device);
  }
  if (filter.workload_hash) require("workload_hash", hex64(*filter.workload_hash));
  if (filter.workload) require("workload", *filter.workload);
  if (filter.target) require("target", *filter.target);
  if (filter.environment) require("environment", hex64(*filter.environment));
  if (filter.machine) require("machine", hex64(*filter.machine));
  if (filter.space) require("space", *filter.space);
  if (filter.rules_hash) require("rules_hash", hex64(*filter.rules_hash));
  if (filter.seed) require("seed", static_cast<int64_t>(*filter.seed));
  if (filter.run) require("run", *filter.run);
  if (filter.lowered_hash) require("lowered_hash", hex64(*filter.lowered_hash));
  if (filter.kind) require("kind", std::string(measurement_kind_name(*filter.kind)));
  if (filter.ok) require("status", *filter.ok ? "ok" : "failed");
  if (filter.cause) require("cause", std::string(failure_cause_name(*filter.cause)));
  return condition;
}

void scan_records(sqlite::Database& database, const RecordFilter& filter, const Visit<Record>& visit) {
  const Condition condition = condition_of(filter);
  auto rows = database.prepare(
      fmt::format("SELECT {} FROM record WHERE {} ORDER BY seq", kRecordColumns, condition.sql));
  condition.bind(rows);
  while (rows.step()) visit(read_record(rows, true));
}

int64_t scan_readable_records(sqlite::Database& database, const RecordFilter& filter,
                              const Visit<Record>& visit) {
  const Condition condition = condition_of(filter);
  const std::string sql =
      fmt::format("SELECT {} FROM record WHERE {} AND seq = ?", kRecordColumns, condition.sql);
  const int64_t last = last_sequence_number(database);
  int64_t lost = 0;
  for (int64_t seq = 1; seq <= last; ++seq) {
    try {
      auto row = database.prepare(sql);
      condition.bind(row);
      if (row.bind(seq).step()) visit(read_record(row, true));
    } catch (const sqlite::DamagedFile&) {
      ++lost;
    }
  }
  return lost;
}

}  // namespace tunesmith
