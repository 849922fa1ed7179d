// Measurements, and their tasks and programs.
#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
/// The number in the statement's only row, if there is one.
std::optional<int64_t> number_of(sqlite::Statement& row) {
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

int64_t target_id(sqlite::Database& database, const std::string& target) {
  database.prepare("INSERT INTO target (text) VALUES (?) ON CONFLICT DO NOTHING").bind(target).run();
  auto row = database.prepare("SELECT id FROM target WHERE text = ?");
  return number_of(row.bind(target)).value();
}

int64_t task_id(sqlite::Database& database, const TaskKey& task) {
  const int64_t target = target_id(database, task.target);
  const auto bind = [&](sqlite::Statement& statement) -> sqlite::Statement& {
    return statement.bind(hex64(task.workload_hash))
        .bind(target)
        .bind(int64_t{task.threads})
        .bind(task.device);
  };
  auto insertion = database.prepare(
      "INSERT INTO task (workload_hash, target, threads, device) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
  bind(insertion).run();
  auto row = database.prepare(
      "SELECT id FROM task WHERE workload_hash = ? AND target = ? AND threads = ? AND device = ?");
  return number_of(bind(row)).value();
}

std::optional<int64_t> workload_id(sqlite::Database& database, const Record& record) {
  auto row =
      database.prepare("SELECT id FROM workload WHERE hash = ? AND text = ? AND definition IS NOT NULL");
  return number_of(row.bind(hex64(record.workload_hash)).bind(record.workload));
}

int64_t space_id(sqlite::Database& database, const Record& record) {
  auto row = database.prepare("SELECT id FROM space WHERE name = ? AND rules_hash = ?");
  return number_of(row.bind(record.space).bind(hex64(record.rules_hash))).value();
}

struct KnownProgram {
  int64_t id = 0;
  std::string workload;
  std::string trace;
  int trace_version = 0;
};

std::optional<KnownProgram> find_program(sqlite::Database& database, int64_t task, uint64_t lowered_hash) {
  auto row = database.prepare(
      "SELECT p.id, w.text, p.trace, p.trace_version FROM program p JOIN workload w ON w.id = p.workload "
      "WHERE p.task = ? AND p.lowered_hash = ?");
  if (!row.bind(task).bind(hex64(lowered_hash)).step()) return std::nullopt;
  return KnownProgram{row.integer(0), row.text(1), row.text(2), static_cast<int>(row.integer(3))};
}

int64_t insert_program(sqlite::Database& database, const Record& record, int64_t task, int64_t workload) {
  database
      .prepare(
          "INSERT INTO program (task, workload, space, trace, trace_version, lowered_hash) "
          "VALUES (?, ?, ?, ?, ?, ?)")
      .bind(task)
      .bind(workload)
      .bind(space_id(database, record))
      .bind(record.trace)
      .bind(int64_t{record.trace_version})
      .bind(hex64(record.lowered_hash))
      .run();
  return database.last_row();
}

void insert_measurement(sqlite::Database& database, const Record& r, int64_t program,
                        const std::string& checksum) {
  auto row = database.prepare(
      "INSERT INTO measurement (id, program, run, kind, ranking, candidate, status, cause, message, seconds, "
      "seconds_min, seconds_median, samples, sample_count, seconds_prepare, disturbed, verified_error, "
      "time_ms, round, score, verified_on, verifier, times_at, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.bind(r.id).bind(program).bind(r.run).bind(measurement_kind_name(r.kind)).bind(int64_t{r.ranking});
  row.bind(static_cast<int64_t>(r.candidate)).bind(std::string_view(r.ok() ? "ok" : "failed"));
  if (r.failure) {
    row.bind(failure_cause_name(r.failure->cause)).bind(r.failure->message);
  } else {
    row.bind_null().bind_null();
  }
  if (r.timing) {
    row.bind(r.seconds).bind(r.timing->min).bind(r.timing->median).bind(samples_json(r.timing->samples));
    row.bind(static_cast<int64_t>(r.timing->samples.size())).bind(r.timing->prepare);
  } else {
    row.bind_null().bind_null().bind_null().bind_null().bind(int64_t{0}).bind_null();
  }
  row.bind_optional(r.disturbed ? std::optional(int64_t{*r.disturbed}) : std::nullopt);
  row.bind_optional(r.verified_error).bind(r.time_ms).bind(int64_t{r.round}).bind_optional(r.score);
  row.bind_optional(r.verified_on.empty() ? std::nullopt : std::optional(r.verified_on));
  row.bind_optional(r.verifier ? std::optional(int64_t{*r.verifier}) : std::nullopt);
  row.bind_optional(r.timing && !r.timing->at.empty() ? std::optional(times_at_text(r.timing->at))
                                                      : std::nullopt);
  row.bind(checksum).run();
}

bool has_environment(sqlite::Database& database, uint64_t hash) {
  auto row = database.prepare("SELECT 1 FROM environment WHERE hash = ?");
  return row.bind(hex64(hash)).step();
}

/// What is wrong with the run of a record.
std::optional<Insertion> check_run(sqlite::Database& database, const Record& record) {
  const std::optional<RecordedRun> run = find_run(database, record.run);
  if (!run) return Insertion::UnknownReference;
  const bool agree = run->environment == record.environment && run->space == record.space &&
                     run->rules_hash == record.rules_hash && run->seed == record.seed;
  return agree ? std::nullopt : std::optional(Insertion::ContradictsItsRun);
}
}  // namespace

Insertion insert_record(sqlite::Database& database, const Record& given) {
  if (!has_environment(database, given.environment)) return Insertion::UnknownReference;
  Record record = given;
  if (const auto fault = check_run(database, record)) return *fault;
  const std::optional<int64_t> workload = workload_id(database, record);
  if (!workload) return Insertion::UnknownReference;
  const int64_t task = task_id(database, record.task());
  const std::optional<KnownProgram> program = find_program(database, task, record.lowered_hash);
  if (program) {
    record.workload = program->workload;
    record.trace = program->trace;
    record.trace_version = program->trace_version;
  }
  const std::string checksum = checksum_of(record);
  {
    auto known = database.prepare("SELECT checksum FROM measurement WHERE id = ?");
    if (known.bind(record.id).step())
      return known.text(0) == checksum ? Insertion::Known : Insertion::Conflict;
  }
  const int64_t program_id = program ? program->id : insert_program(database, record, task, *workload);
  insert_measurement(database, record, program_id, checksum);
  return Insertion::Added;
}

}  // namespace tunesmith
