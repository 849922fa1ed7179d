// The report's data for a store with known content.
#include "report/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "unit/records/store_fixture.h"

namespace tunesmith::report {
namespace {
using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kBegan = 1'700'000'000'000;

class ReportDataTest : public StoreFixture {
 protected:
  ReportDataTest() : store_(path("r.db")) {
    prepare(store_);
    store_.add_workload({gmm_.hash, gmm_.key, gmm_.definition});
    store_.add_workload({relu_.hash, relu_.key, relu_.definition});
  }

  void begin(const std::string& id, const std::string& command, int64_t began_ms = kBegan) {
    RecordedRun begun = run(id);
    begun.command = command;
    begun.began_ms = began_ms;
    store_.add_run(begun);
  }

  /// A search's measurement, `seconds` after kBegan; a failure if it took 0 seconds.
  Record measured(const std::string& run, const Workload& workload, uint64_t candidate, double took,
                  double seconds, std::optional<double> score = std::nullopt) {
    const std::string id = run + "-" + std::to_string(candidate);
    Record record =
        took > 0 ? success(id, {took}) : failure(id, FailureCause::TimeOut, "not finished in 1 s");
    record.run = run;
    record.workload = workload.key;
    record.workload_hash = workload.hash;
    record.candidate = candidate;
    record.lowered_hash = candidate + 1;
    record.time_ms = kBegan + static_cast<int64_t>(1000 * seconds);
    record.trace_version = 2;
    if (candidate == 0) record.trace = "# tunesmith trace 2\nenter_finishing()\n";
    if (score) {
      record.round = 1;
      record.score = score;
    }
    return record;
  }

  json data(const Query& query = {}) const {
    return report_data(store_, query, [](const Record& record) { return "program of " + record.id; });
  }

  Workload gmm_ = WorkloadLibrary().load("gmm:n=16,m=16,k=16");
  Workload relu_ = WorkloadLibrary().load("relu:n=16,m=16");
  RecordStore store_;
};

TEST_F(ReportDataTest, AStoreWithoutSearchesHasNothingToReport) {
  EXPECT_TRUE(data().at("tasks").empty());
  Record bench = success("bench", {1e-3});
  bench.kind = MeasurementKind::Bench;
  store_.add(bench);
  EXPECT_TRUE(data().at("tasks").empty()) << "what a person chose to measure is no search";
}

TEST_F(ReportDataTest, ProgressHasAPointForEachImprovementAndForTheLastTrial) {
  begin("a", "tunesmith tune gmm");
  store_.add(measured("a", gmm_, 0, 8e-3, 1));
  store_.add(measured("a", gmm_, 1, 0, 2));
  store_.add(measured("a", gmm_, 2, 2e-3, 3));
  store_.add(measured("a", gmm_, 3, 4e-3, 5));
  store_.end_run("a", kBegan + 6000, "trials");
  const json report = data();
  ASSERT_EQ(report.at("tasks").size(), 1u);
  const json& task = report.at("tasks").at(0);
  EXPECT_EQ(task.at("workload"), gmm_.key);
  const json& one = task.at("runs").at(0);
  EXPECT_EQ(one.at("best"),
            json::parse(R"([[1, 1.0, 0.008, "a-0"], [3, 3.0, 0.002, "a-2"], [4, 5.0, 0.002, "a-2"]])"));
  EXPECT_EQ(one.at("trials"), 4);
  EXPECT_EQ(one.at("valid"), 3);
  EXPECT_EQ(one.at("seconds"), 6.0);
  EXPECT_EQ(one.at("ended_because"), "trials");
  EXPECT_EQ(task.at("failures").at(0).at("cause"), "time_out");
  EXPECT_EQ(task.at("failures").at(0).at("count"), 1);
  EXPECT_EQ(task.at("failures").at(0).at("message"), "not finished in 1 s");
}

TEST_F(ReportDataTest, TheBestIsTheStoresAndHasItsProgramAndDifferences) {
  begin("a", "tunesmith tune gmm");
  for (uint64_t i = 0; i < 3; ++i) store_.add(measured("a", gmm_, i, 8e-3 / static_cast<double>(i + 1), 1));
  const json task = data().at("tasks").at(0);
  EXPECT_EQ(task.at("best").at(0).at("record"), "a-2");
  EXPECT_TRUE(task.at("never_compared")) << "of a run that was killed";
  EXPECT_DOUBLE_EQ(task.at("best").at(0).at("operations_per_second"), gmm_.flops / (8e-3 / 3));
  EXPECT_EQ(task.at("unscheduled").at("record"), "a-0");
  EXPECT_EQ(task.at("program"), "program of a-2");
  EXPECT_THAT(task.at("versus_unscheduled").get<std::string>(), HasSubstr("+ b0 = get_block(\"C\")"));
  EXPECT_EQ(task.at("operations"), gmm_.flops);
  const json refused =
      report_data(store_, {},
                  [](const Record&) -> std::string { throw UserError("made by a plugin that is not here"); })
          .at("tasks")
          .at(0);
  EXPECT_EQ(refused.at("program"), nullptr);
  EXPECT_EQ(refused.at("program_fault"), "made by a plugin that is not here");
}

TEST_F(ReportDataTest, WhatCannotBeReadOrReplayedIsPassedOver) {
  begin("a", "tunesmith tune gmm");
  for (uint64_t i = 0; i < 4; ++i) {
    Record record = measured("a", gmm_, i, 8e-3 / static_cast<double>(i + 1), 1);
    if (i == 3) record.trace = "no trace";
    store_.add(record);
  }
  const PrintProgram print = [](const Record& record) -> std::string {
    if (record.id == "a-2") throw UserError("does not replay");
    return "program of " + record.id;
  };
  const json report = report_data(store_, {}, print);
  const json& task = report.at("tasks").at(0);
  EXPECT_EQ(task.at("best").at(0).at("record"), "a-1");
  EXPECT_EQ(task.at("program"), "program of a-1");
  EXPECT_EQ(task.at("program_fault"), "the trace of record a-3 cannot be read");
  EXPECT_DOUBLE_EQ(report.at("rooflines").at(0).at("points").at(0).at("operations_per_second"),
                   task.at("best").at(0).at("operations_per_second"));
}

TEST_F(ReportDataTest, PredictionsAreThoseOnRecord) {
  begin("a", "tunesmith tune gmm");
  for (uint64_t i = 0; i < 10; ++i)
    store_.add(
        measured("a", gmm_, i, i == 4 ? 0.0 : 1e-3 * static_cast<double>(i + 1), 1, -static_cast<double>(i)));
  begin("b", "tunesmith tune gmm", kBegan + 100'000);
  store_.add(measured("b", gmm_, 20, 1e-3, 200));
  const json predictions = data().at("tasks").at(0).at("predictions");
  ASSERT_EQ(predictions.size(), 1u) << "the scores of the other run are not on record";
  EXPECT_EQ(predictions.at(0).at("programs").at(4), json::parse(R"([-4.0, null, "a-4"])"));
  EXPECT_EQ(predictions.at(0).at("programs").at(5), json::parse(R"([-5.0, 0.006, "a-5"])"));
  ASSERT_EQ(predictions.at(0).at("batches").size(), 1u);
  EXPECT_EQ(predictions.at(0).at("batches").at(0).at("programs"), 10);
  EXPECT_EQ(predictions.at(0).at("batches").at(0).at("best_of_eighth"), 1.0);
}

TEST_F(ReportDataTest, RunsOfOneCommandAtOneTimeSharedItsBudget) {
  begin("a", "tunesmith tune suite.yaml");
  begin("b", "tunesmith tune suite.yaml", kBegan + 10);
  for (uint64_t i = 0; i < 3; ++i) store_.add(measured("a", gmm_, i, 1e-3, static_cast<double>(2 * i)));
  for (uint64_t i = 0; i < 2; ++i) store_.add(measured("b", relu_, i, 1e-3, static_cast<double>(2 * i + 1)));
  begin("later", "tunesmith tune suite.yaml", kBegan + 60'000);
  store_.add(measured("later", gmm_, 9, 1e-3, 61));
  begin("alone", "tunesmith tune relu", kBegan + 10);
  store_.add(measured("alone", relu_, 8, 1e-3, 2));
  const json budgets = data().at("budgets");
  ASSERT_EQ(budgets.size(), 1u) << "one task has no budget to share";
  EXPECT_EQ(budgets.at(0).at("command"), "tunesmith tune suite.yaml");
  ASSERT_EQ(budgets.at(0).at("runs").size(), 2u);
  EXPECT_EQ(budgets.at(0).at("runs").at(0).at("trials"), 3);
  EXPECT_EQ(budgets.at(0).at("runs").at(1).at("spent"), json::parse("[[0.0, 0], [1.0, 1], [3.0, 2]]"));
}

TEST_F(ReportDataTest, RoofsAreTheHighestThatWasMeasuredForTheTask) {
  begin("a", "tunesmith tune gmm");
  store_.add(measured("a", gmm_, 0, 8e-3, 1));
  store_.add(measured("a", gmm_, 1, 1e-3, 1));
  EXPECT_EQ(data().at("rooflines").at(0).at("operations_per_second"), nullptr) << "none was measured";
  store_.add_roof(roof("low", "operations f32", 1e11, 1));
  RecordedRoof high = roof("high", "operations f32", 2e11, 2);
  high.disturbed = true;
  store_.add_roof(high);
  store_.add_roof(roof("bf16", "operations bf16", 9e11, 3));
  RecordedRoof one_thread = roof("one", "copied bytes", 9e11, 4);
  one_thread.threads = 1;
  store_.add_roof(one_thread);
  const json line = data().at("rooflines").at(0);
  EXPECT_EQ(line.at("operations_per_second"), 2e11);
  EXPECT_EQ(line.at("operations_measured"), (json{{"time_ms", 2}, {"disturbed", true}}));
  EXPECT_EQ(line.at("copying_measured"), nullptr);
  EXPECT_EQ(line.at("copied_bytes_per_second"), nullptr) << "with two threads none was measured";
  const json& point = line.at("points").at(0);
  EXPECT_DOUBLE_EQ(point.at("operations_per_byte"), gmm_.flops / gmm_.bytes_min);
  EXPECT_DOUBLE_EQ(point.at("operations_per_second"), gmm_.flops / 1e-3);
  EXPECT_DOUBLE_EQ(point.at("unscheduled_operations_per_second"), gmm_.flops / 8e-3);
}

TEST_F(ReportDataTest, QueriesChooseTasksAndRunsAndUnknownNamesAreRefused) {
  begin("a", "tunesmith tune gmm");
  begin("b", "tunesmith tune relu", kBegan + 1000);
  store_.add(measured("a", gmm_, 0, 8e-3, 1));
  store_.add(measured("b", relu_, 0, 1e-3, 2));
  EXPECT_EQ(data().at("tasks").size(), 2u);
  EXPECT_EQ(data({{"relu"}, {}, {}}).at("tasks").at(0).at("workload"), relu_.key);
  EXPECT_EQ(data({{"gmm:n=16", "relu:n=16"}, {}, {}}).at("tasks").size(), 2u);
  const std::string id = data({{"gmm"}, {}, {}}).at("tasks").at(0).at("id");
  EXPECT_EQ(data({{}, {id}, {}}).at("tasks").at(0).at("workload"), gmm_.key);
  EXPECT_EQ(data({{}, {}, {"b"}}).at("tasks").size(), 1u);
  const auto refusal = [&](const Query& query) -> std::string {
    try {
      data(query);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({{"rlu"}, {}, {}}), HasSubstr("did you mean 'relu'"));
  EXPECT_THAT(refusal({{"gmm:n=17"}, {}, {}}), HasSubstr("no record of a workload 'gmm:n=17'"));
  EXPECT_THAT(refusal({{}, {"0123"}, {}}), HasSubstr("no task '0123'"));
  EXPECT_THAT(refusal({{}, {}, {"c"}}), HasSubstr("no run 'c'"));
}

}  // namespace
}  // namespace tunesmith::report
