#include "tunesmith/evaluation/replay.h"

#include <algorithm>
#include <unordered_map>

#include <gmock/gmock.h>

#include "table_fixture.h"

namespace tunesmith {
namespace {

class Replay : public TableTest {
 protected:
  /// The tried programs and their times.
  std::vector<std::pair<uint64_t, double>> search(const Table& table, const std::string& strategy,
                                                  size_t threads, TuneResult* result = nullptr) {
    const Space searched = space(table, strategy);
    TableRunner runner(table);
    RecordStore store(path(strategy + std::to_string(runs_++)));
    TuneOptions options;
    options.trials = 64;
    options.batch = 16;
    options.seed = 3;
    options.threads = threads;
    std::vector<std::pair<uint64_t, double>> tried;
    TuneHooks hooks;
    hooks.refuse = [&](const Candidate& candidate) { return runner.refuse(candidate); };
    hooks.recorded = [&](const Record& record) {
      if (record.kind == MeasurementKind::Search) tried.emplace_back(record.lowered_hash, record.seconds);
    };
    const TuneResult done =
        tune(workload_of(table), searched, store, runner, table.environment, options, hooks);
    if (result != nullptr) *result = done;
    spent_ = runner.spent_seconds();
    return tried;
  }

  double spent_ = 0.0;
  int runs_ = 0;
};

TEST_F(Replay, AnswersWithTheRecordedTimesAndFailures) {
  const Table table = full_table();
  ASSERT_TRUE(table.complete);
  ASSERT_GT(table.rows.size(), 40U);
  std::unordered_map<uint64_t, const TableRow*> rows;
  for (const TableRow& row : table.rows) rows.emplace(row.lowered_hash, &row);
  TuneResult result;
  const auto tried = search(table, "blind", 2, &result);
  ASSERT_GT(tried.size(), 20U);
  double best = 1.0;
  for (const auto& [hash, seconds] : tried) {
    ASSERT_TRUE(rows.contains(hash));
    EXPECT_DOUBLE_EQ(seconds, seconds_of(*rows.at(hash)).value_or(0.0));
    if (seconds > 0.0) best = std::min(best, seconds);
  }
  EXPECT_DOUBLE_EQ(result.best_seconds, best);
  EXPECT_EQ(result.failures[FailureCause::WrongResult],
            std::ranges::count_if(tried, [](const auto& one) { return one.second == 0.0; }));
  EXPECT_EQ(result.refusals.count(kNotInTable), 0U) << "the table has all programs";
  EXPECT_DOUBLE_EQ(spent_, 0.25 * static_cast<double>(tried.size()));
}

TEST_F(Replay, TheSameSeedFindsTheSameWithAnyNumberOfThreads) {
  const Table table = full_table();
  for (const char* strategy : {"blind", "guided"}) {
    const auto one = search(table, strategy, 1);
    EXPECT_EQ(one, search(table, strategy, 2)) << strategy;
    EXPECT_EQ(one, search(table, strategy, 1)) << strategy;
  }
}

TEST_F(Replay, WhatTheTableLacksIsRefusedAndCounted) {
  Table table = full_table();
  table.rows.resize(table.rows.size() / 2);
  TuneResult result;
  const auto tried = search(table, "blind", 2, &result);
  EXPECT_GT(result.refusals[kNotInTable], 0);
  for (const auto& [hash, seconds] : tried) {
    EXPECT_TRUE(std::ranges::any_of(table.rows,
                                    [&, h = hash](const TableRow& row) { return row.lowered_hash == h; }));
  }
}

TEST_F(Replay, ChecksWhatHasBecomeOfThePrograms) {
  Table table = full_table();
  ThreadPool pool(2);
  TableCheck check = check_table(table, space(table), pool);
  EXPECT_EQ(check.standing, table.rows.size());
  EXPECT_TRUE(check.same_rules);

  // Simulates a changed lowering for one row, and a missing instruction for another.
  table.rows[3].lowered_hash += 1;
  table.rows[4].trace = "b0 = no_such_instruction()\n";
  table.rows[5].trace = table.rows[6].trace;
  table.rules += "changed";
  check = check_table(table, space(table), pool);
  EXPECT_EQ(check.standing, table.rows.size() - 3);
  EXPECT_EQ(check.changed, 2U);
  EXPECT_EQ(check.merged, 1U);
  EXPECT_EQ(check.lost, 1U);
  EXPECT_THAT(check.first_lost, testing::HasSubstr("no_such_instruction"));
  EXPECT_FALSE(check.same_rules);

  const Table rehashed = rehash_table(table, space(table), pool);
  EXPECT_EQ(rehashed.rows.size(), table.rows.size() - 2);
  check = check_table(rehashed, space(rehashed), pool);
  EXPECT_EQ(check.standing, rehashed.rows.size());
  EXPECT_EQ(rehashed.target, table.target);
}

}  // namespace
}  // namespace tunesmith
