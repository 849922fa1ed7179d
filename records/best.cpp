// The rule that orders the programs of a task, as described at RecordStore::best.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "store_impl.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {

Condition condition_of(const BestQuery& query) {
  RecordFilter filter;
  filter.task = query.task;
  filter.machine = query.machine;
  filter.space = query.space;
  filter.ok = true;
  return tunesmith::condition_of(filter);
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

/// The properties of a measurement that decide.
struct Time {
  int64_t seq = 0;
  int64_t program = 0;
  std::string environment;
  std::pair<std::string, int64_t> ranking;  // its run and its number there; 0: of a search
  double seconds = 0.0;
  double least = 0.0;
  bool disturbed = false;
  int64_t samples = 0;

  bool ranked() const { return ranking.second > 0; }
};

/// In order of insertion, without programs that were found wrong.
std::vector<Time> times_of(sqlite::Database& database, const Condition& condition, uint64_t machine) {
  auto rows = database.prepare(fmt::format(
      "SELECT seq, program, environment, run, ranking, seconds, seconds_min, ifnull(disturbed, 0), "
      "sample_count "
      "FROM record WHERE {} AND kind IN ('search', 'ranking') AND NOT EXISTS ("
      "SELECT 1 FROM record f WHERE f.program = record.program AND f.machine = ? AND f.cause IN ({})) "
      "ORDER BY seq",
      condition.sql, disqualifying_causes()));
  condition.bind(rows);
  rows.bind(hex64(machine));
  std::vector<Time> times;
  while (rows.step()) {
    times.push_back({rows.integer(0),
                     rows.integer(1),
                     rows.text(2),
                     {rows.text(3), rows.integer(4)},
                     rows.real(5),
                     rows.real(6),
                     rows.integer(7) != 0,
                     rows.integer(8)});
  }
  return times;
}

/// The deciding ranking, fastest first; empty if there is none. A
/// later one replaces an earlier one only if it timed the earlier best
/// again or found a faster program: otherwise it did not beat it.
std::vector<Time> deciding_ranking(const std::vector<Time>& times) {
  std::vector<std::vector<Time>> rankings;
  std::map<std::pair<std::string, int64_t>, size_t> places;
  for (const Time& time : times) {
    if (!time.ranked()) continue;
    const auto [place, fresh] = places.try_emplace(time.ranking, rankings.size());
    if (fresh) rankings.emplace_back();
    rankings[place->second].push_back(time);
  }
  std::vector<Time> deciding;
  for (std::vector<Time>& ranking : rankings) {
    std::ranges::stable_sort(ranking, {}, &Time::seconds);
    const bool decides =
        deciding.empty() || ranking.front().seconds < deciding.front().seconds ||
        std::ranges::find(ranking, deciding.front().program, &Time::program) != ranking.end();
    if (decides) deciding = std::move(ranking);
  }
  return deciding;
}

/// The environment in which most programs were measured; of equals the latest.
std::string usual_environment(const std::vector<Time>& times) {
  std::map<std::string, std::pair<std::set<int64_t>, int64_t>> known;  // programs, last measurement
  for (const Time& time : times) {
    auto& [programs, last] = known[time.environment];
    programs.insert(time.program);
    last = time.seq;
  }
  const auto most = std::ranges::max_element(
      known, {}, [](const auto& one) { return std::pair(one.second.first.size(), one.second.second); });
  return most == known.end() ? "" : most->first;
}

/// A program with its representative measurement. Smaller places come first.
struct Placed {
  int place = 0;
  Time time;
};

/// Which of two measurements represents a program better?
bool more_careful(const Placed& one, const Placed& other) {
  const auto key = [](const Placed& placed) {
    return std::tuple(-placed.place, !placed.time.disturbed, placed.time.samples, placed.time.seq);
  };
  return key(one) > key(other);
}

std::vector<Placed> in_order(const std::vector<Time>& times) {
  enum Place { kFoundSince, kRanked, kHere, kElsewhere };
  const std::vector<Time> deciding = deciding_ranking(times);
  const std::string environment = deciding.empty() ? usual_environment(times) : deciding.front().environment;
  double least = 0.0;  // the smallest time of the ranking's best program
  int64_t last = 0;    // sequence number of the ranking's last measurement
  for (const Time& time : deciding) last = std::max(last, time.seq);
  for (const Time& time : times) {
    if (!deciding.empty() && time.program == deciding.front().program && time.environment == environment)
      least = least > 0.0 ? std::min(least, time.least) : time.least;
  }
  std::map<int64_t, Placed> programs;
  for (const Time& time : times) {
    const bool ranked = !deciding.empty() && time.ranking == deciding.front().ranking;
    const Placed placed{ranked ? kRanked : time.environment == environment ? kHere : kElsewhere, time};
    const auto [known, fresh] = programs.try_emplace(time.program, placed);
    if (!fresh && more_careful(placed, known->second)) known->second = placed;
  }
  std::vector<Placed> order;
  for (auto& [program, placed] : programs) {
    if (placed.place == kHere && placed.time.seq > last && placed.time.seconds < least)
      placed.place = kFoundSince;
    order.push_back(std::move(placed));
  }
  std::ranges::sort(order, {}, [](const Placed& placed) {
    return std::tuple(placed.place, placed.time.seconds, placed.time.seq);
  });
  return order;
}

}  // namespace

std::vector<Record> RecordStore::best(const BestQuery& query, size_t n) const {
  const Condition condition = condition_of(query);
  const std::lock_guard lock(impl_->mutex);
  sqlite::Database& database = impl_->database;
  std::vector<Record> best;
  for (const Placed& placed : in_order(times_of(database, condition, query.machine))) {
    if (best.size() == n) break;
    auto row = database.prepare(fmt::format("SELECT {} FROM record WHERE seq = ?", kRecordColumns));
    check_invariant(row.bind(placed.time.seq).step(), "what was placed is on record");
    if (std::optional<Record> record = impl_->readable_record(row)) best.push_back(std::move(*record));
  }
  return best;
}

bool RecordStore::never_compared(const BestQuery& query) const {
  constexpr double kApart = 1.1;  // of the smallest sample: one of few is rarely smaller
  const Condition condition = condition_of(query);
  const std::lock_guard lock(impl_->mutex);
  const std::vector<Placed> order = in_order(times_of(impl_->database, condition, query.machine));
  if (order.size() < 2) return false;
  const Time& first = order.front().time;
  if (!first.ranked()) return true;
  return std::ranges::any_of(order, [&](const Placed& placed) {
    const Time& other = placed.time;
    if (other.ranking == first.ranking) return false;
    const bool since = !other.ranked() && other.seq > first.seq;
    return other.seconds < (since ? kApart * first.least : first.least / kApart);
  });
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
