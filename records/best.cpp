// The one rule by which programs of a task are put in order: RecordStore::best says it in words.
#include <fmt/format.h>

#include "record_json.h"
#include "store_impl.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
struct Ranking {
  std::string environment;
  std::string run;
  int64_t number = 0;
};

Condition condition_of(const BestQuery& query) {
  RecordFilter filter;
  filter.task = query.task;
  filter.machine = query.machine;
  filter.space = query.space;
  filter.attributed = true;
  filter.ok = true;
  return tunesmith::condition_of(filter);
}

/// Where the answer comes from; its run is "" when nothing was ranked, its environment "" when nothing was
/// measured.
Ranking latest_ranking(sqlite::Database& database, const Condition& condition) {
  {
    auto row = database.prepare(
        fmt::format("SELECT environment, run, ranking FROM record WHERE {} AND kind = 'ranking' "
                    "ORDER BY time_ms DESC, seq DESC LIMIT 1",
                    condition.sql));
    condition.bind(row);
    if (row.step()) return {row.text(0), row.text(1), row.integer(2)};
  }
  auto row = database.prepare(
      fmt::format("SELECT environment FROM record WHERE {} AND kind = 'search' GROUP BY environment "
                  "ORDER BY count(DISTINCT program) DESC, max(time_ms) DESC, environment LIMIT 1",
                  condition.sql));
  condition.bind(row);
  return {row.step() ? row.text(0) : "", "", 0};
}

/// "'wrong_result', 'crash'": of all that disqualify.
std::string disqualifying_causes() {
  std::string list;
  for (const FailureCause cause : all_failure_causes()) {
    if (disqualifies(cause))
      list += fmt::format("{}'{}'", list.empty() ? "" : ", ", failure_cause_name(cause));
  }
  return list;
}

/// Parameters: the ranking's run and number, those of the condition, the environment, the machine, the limit.
constexpr const char* kBest = R"sql(
WITH known AS (
  SELECT *, run = ? AND ranking = ? AS ranked FROM record WHERE {0} AND environment = ?
), placed AS (
  SELECT *, row_number() OVER (PARTITION BY program ORDER BY ranked DESC, ifnull(disturbed, 0),
                               sample_count DESC, seq DESC) AS place
    FROM known WHERE ranked OR kind = 'search'
)
SELECT {1} FROM placed
 WHERE place = 1 AND NOT EXISTS (
   SELECT 1 FROM record f WHERE f.program = placed.program AND f.machine = ?
      AND f.cause IN ({2}))
 ORDER BY ranked DESC, seconds, seq LIMIT ?
)sql";
}  // namespace

std::vector<Record> RecordStore::best(const BestQuery& query, size_t n) const {
  const Condition condition = condition_of(query);
  const std::lock_guard lock(impl_->mutex);
  sqlite::Database& database = impl_->database;
  const Ranking ranking = latest_ranking(database, condition);
  auto rows = database.prepare(fmt::format(kBest, condition.sql, kRecordColumns, disqualifying_causes()));
  rows.bind(ranking.run).bind(ranking.number);
  condition.bind(rows);
  rows.bind(ranking.environment).bind(hex64(query.machine)).bind(static_cast<int64_t>(n));
  std::vector<Record> best;
  while (rows.step()) best.push_back(sound_record(rows, database));
  return best;
}

std::vector<TaskKey> RecordStore::tasks(const RecordFilter& filter) const {
  const Condition condition = tunesmith::condition_of(filter);
  const std::lock_guard lock(impl_->mutex);
  auto rows = impl_->database.prepare(
      fmt::format("SELECT workload_hash, target, threads, device FROM record WHERE {} GROUP BY task "
                  "ORDER BY min(seq)",
                  condition.sql));
  condition.bind(rows);
  std::vector<TaskKey> tasks;
  while (rows.step()) {
    tasks.push_back(
        {parse_hash(rows.text(0)), rows.text(1), static_cast<int>(rows.integer(2)), rows.text(3)});
  }
  return tasks;
}

}  // namespace tunesmith
