#include <limits>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>

#include "unit/records/store_fixture.h"

namespace tunesmith {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using RecordStoreTest = StoreFixture;

TEST_F(RecordStoreTest, GivesBackARecordAsItWasAdded) {
  RecordStore store(path("a.db"));
  prepare(store);
  const Record ok = success("job-1", {2.5e-3, 1.25e-3, 1.0 / 3.0});
  const Record failed = failure("job-2", FailureCause::OutOfBounds, "C[3, 4]\nline two \"quoted\"");
  EXPECT_TRUE(store.add(ok));
  EXPECT_TRUE(store.add(failed));
  EXPECT_EQ(store.find("job-1"), ok);
  EXPECT_EQ(store.find("job-2"), failed);
  EXPECT_EQ(store.find("job-3"), std::nullopt);
}

TEST_F(RecordStoreTest, KeepsEveryBitOfTheNumbers) {
  RecordStore store(path("a.db"));
  prepare(store);
  RecordedRun odd = run("odd");
  odd.seed = std::numeric_limits<uint64_t>::max();
  odd.rules_hash = std::numeric_limits<uint64_t>::max();
  store.add_space({odd.space, odd.rules_hash, "others"});
  store.add_run(odd);
  Record record = success("job", {std::numeric_limits<double>::denorm_min(), 0.1, 1e300});
  record.run = "odd";
  record.seed = odd.seed;
  record.candidate = uint64_t{1} << 63;
  record.lowered_hash = 1;
  record.rules_hash = odd.rules_hash;
  record.verified_error = 0.1 + 0.2;
  store.add(record);
  EXPECT_EQ(store.find("job"), record);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(RecordStoreTest, SurvivesClosingAndOpening) {
  const Record record = success("job", {1e-3});
  {
    RecordStore store(path("deep/folder/a.db"));
    prepare(store);
    store.add(record);
  }
  RecordStore store(path("deep/folder/a.db"), RecordStore::Mode::Existing);
  EXPECT_EQ(store.find("job"), record);
  EXPECT_EQ(store.environment(record.environment), environment());
}

TEST_F(RecordStoreTest, AnIdIsAddedOnceAndTheFirstStays) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add_environment(environment());
  store.add_workload(workload());
  store.add_space(space());
  EXPECT_THROW(store.add_run(run()), InternalError);
  EXPECT_TRUE(store.add(success("job", {1e-3})));
  EXPECT_FALSE(store.add(success("job", {1e-3})));
  EXPECT_FALSE(store.add(success("job", {9e-3})));
  EXPECT_EQ(store.count(), 1u);
  EXPECT_EQ(store.find("job")->timing->min, 1e-3);
  EXPECT_EQ(store.environments().size(), 1u);
}

TEST_F(RecordStoreTest, AFailureHasNoTimeAndASuccessIsVerified) {
  RecordStore store(path("a.db"));
  prepare(store);
  Record record = failure("job", FailureCause::Crash, "signal 11");
  record.timing = make_timing({1e-3});
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.verified_error.reset();
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.timing->median = std::numeric_limits<double>::infinity();
  EXPECT_THROW(store.add(record), InternalError);
  record = success("", {1e-3});
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3, 2e-3});
  record.seconds = 3e-3;  // no sample is that slow
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.kind = MeasurementKind::Ranking;  // without a number
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.threads = 0;
  EXPECT_THROW(store.add(record), InternalError);
  EXPECT_EQ(store.count(), 0u);
}

TEST_F(RecordStoreTest, ABatchIsAddedWholeOrNotAtAll) {
  RecordStore store(path("a.db"));
  prepare(store);
  std::vector<Record> batch{success("a", {1e-3}), success("b", {1e-3}), success("a", {1e-3})};
  EXPECT_EQ(store.add(batch), 2u);
  batch = {success("c", {1e-3}), success("d", {1e-3})};
  batch[1].environment ^= 1;  // not in the store
  EXPECT_THROW(store.add(batch), InternalError);
  EXPECT_EQ(store.find("c"), std::nullopt);
  EXPECT_TRUE(store.add(success("c", {1e-3})));
}

TEST_F(RecordStoreTest, ListsInOrderOfInsertionByFilter) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add_workload({77, "dense:n=64", "name: dense\n"});
  Record other = success("z", {1e-3});
  other.workload = "dense:n=64";
  other.workload_hash = 77;
  RecordedRun paper = run("paper");
  paper.space = "cpu-paper";
  paper.seed = 9;
  store.add_space({"cpu-paper", 42, "modules: [tile]"});
  store.add_run(paper);
  Record elsewhere = success("m", {1e-3});
  elsewhere.run = "paper";
  elsewhere.space = "cpu-paper";
  elsewhere.seed = 9;
  store.add(other);
  store.add(elsewhere);
  store.add(failure("b", FailureCause::TimeOut, ""));
  store.add(success("a", {1e-3}));
  const auto ids = [&](const RecordFilter& filter) {
    std::string text;
    for (const Record& record : store.list(filter)) text += record.id;
    EXPECT_EQ(store.count(filter), text.size());
    return text;
  };
  EXPECT_EQ(ids({}), "zmba");
  EXPECT_EQ(ids({.workload_hash = 77}), "z");
  EXPECT_EQ(ids({.workload = "gmm:n=512", .target = "llvm mcpu=native"}), "mba");
  EXPECT_EQ(ids({.target = "cuda"}), "");
  EXPECT_EQ(ids({.environment = environment().hash()}), "zmba");
  EXPECT_EQ(ids({.space = "cpu-paper"}), "m");
  EXPECT_EQ(ids({.seed = 9}), "m");
  EXPECT_EQ(ids({.ok = true}), "zma");
  EXPECT_EQ(ids({.ok = false}), "b");
  EXPECT_EQ(ids({.cause = FailureCause::TimeOut}), "b");
  EXPECT_EQ(ids({.cause = FailureCause::Crash}), "");
  EXPECT_EQ(ids({.rules_hash = 1}), "");
  EXPECT_EQ(ids({.task = other.task()}), "z");
  EXPECT_EQ(ids({.task = TaskKey{77, other.target, 1, ""}}), "") << "other threads are another task";
  EXPECT_EQ(ids({.run = "paper"}), "m");
  EXPECT_EQ(ids({.lowered_hash = 0x123}), "zmba");
  EXPECT_EQ(ids({.kind = MeasurementKind::Ranking}), "");
}

TEST_F(RecordStoreTest, ARecordNeedsWhatItRefersTo) {
  RecordStore store(path("a.db"));
  EXPECT_THROW(store.add(success("job", {1e-3})), InternalError) << "nothing is there";
  prepare(store);
  Record record = success("job", {1e-3});
  record.run = "another";
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.seed = 8;  // its run has 7
  EXPECT_THROW(store.add(record), InternalError);
  record = success("job", {1e-3});
  record.workload = "gmm:n=513";
  EXPECT_THROW(store.add(record), InternalError);
  EXPECT_THROW(store.add_run([] {
    RecordedRun other = run("other");
    other.space = "nowhere";
    return other;
  }()),
               InternalError);
  EXPECT_EQ(store.count(), 0u);
}

TEST_F(RecordStoreTest, OfTwoTracesOfOneProgramTheFirstIsKept) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add_workload({workload().hash, "layer2:n=512", "name: layer2\n"});
  store.add(success("first", {2e-3}));
  Record second = success("second", {1e-3});
  second.trace = "b0 = get_block(\"D\")\n";
  second.workload = "layer2:n=512";
  EXPECT_TRUE(store.add(second));
  EXPECT_EQ(store.find("second")->trace, success("first", {2e-3}).trace);
  EXPECT_EQ(store.find("second")->workload, "gmm:n=512") << "whose names are those of the trace";
  EXPECT_FALSE(store.add(second)) << "the same measurement, whatever became of its trace";
  EXPECT_EQ(store.tasks().size(), 1u);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(RecordStoreTest, AWorkloadIsMadeAgainWithoutItsFile) {
  const char* text =
      "name: twice\nparams: {n: 8}\ninputs:\n  X: {shape: [n], dtype: f32}\ncompute: |\n"
      "  O[i<n] = X[i] + X[i]\noutputs: [O]\n";
  const Workload made = WorkloadDefinition::parse(text, "twice.yaml").instantiate({{"n", "12"}});
  RecordStore store(path("a.db"));
  store.add_workload({made.hash, made.key, made.definition});
  store.add_workload({made.hash, "another:n=12", "name: another\n"});
  const std::optional<RecordedWorkload> recorded = store.workload(made.hash);
  ASSERT_TRUE(recorded);
  const Workload again = instantiate(*recorded);
  EXPECT_EQ(again.hash, made.hash);
  EXPECT_EQ(again.key, made.key);
  EXPECT_EQ(store.workload(1), std::nullopt);
  EXPECT_THROW(instantiate({1, "unknown:n=1", ""}), UserError);
}

TEST_F(RecordStoreTest, ARunEndsOnce) {
  RecordStore store(path("a.db"));
  prepare(store);
  EXPECT_EQ(store.run("run"), run());
  store.end_run("run", 1'700'000'001'000, "all trials done");
  RecordedRun ended = run();
  ended.ended_ms = 1'700'000'001'000;
  ended.ended_because = "all trials done";
  EXPECT_EQ(store.run("run"), ended);
  EXPECT_THROW(store.end_run("run", 1'700'000'002'000, "interrupted"), InternalError);
  EXPECT_THROW(store.end_run("none", 1, "interrupted"), InternalError);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(RecordStoreTest, RunsEndTogetherOrNotAtAll) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add_run(run("other"));
  const std::vector<std::string> unknown{"run", "none"};
  EXPECT_THROW(store.end_runs(unknown, 1'700'000'001'000, "interrupted"), InternalError);
  EXPECT_EQ(store.run("run")->ended_ms, 0);
  const std::vector<std::string> both{"run", "other"};
  store.end_runs(both, 1'700'000'001'000, "interrupted");
  for (const std::string& id : both) EXPECT_EQ(store.run(id)->ended_because, "interrupted");
}

TEST_F(RecordStoreTest, WhatFailedByTheMachinesFaultIsTransient) {
  Record record = failure("job", FailureCause::TimeOut, "");
  EXPECT_FALSE(record.transient()) << "nobody knows of a disturbance";
  record.disturbed = true;
  EXPECT_TRUE(record.transient());
  EXPECT_TRUE(failure("job", FailureCause::WorkerLost, "").transient());
  EXPECT_TRUE(failure("job", FailureCause::OutOfMemory, "").transient());
  EXPECT_FALSE(failure("job", FailureCause::WrongResult, "").transient());
  EXPECT_FALSE(success("job", {1e-3}).transient());
}

TEST_F(RecordStoreTest, ManyThreadsAddAtOnce) {
  RecordStore store(path("a.db"));
  prepare(store);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) store.add(success(std::to_string(t) + "-" + std::to_string(i), {1e-3}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.count(), 80u);
}

TEST_F(RecordStoreTest, TwoStoresOnOneFileSeeEachOther) {
  RecordStore a(path("a.db"));
  RecordStore b(path("a.db"));
  prepare(a);
  EXPECT_TRUE(a.add(success("from-a", {1e-3})));
  EXPECT_TRUE(b.add(success("from-b", {1e-3})));
  EXPECT_EQ(a.count(), 2u);
  EXPECT_EQ(b.count(), 2u);
}

TEST_F(RecordStoreTest, TheFileIsInWriteAheadMode) {
  RecordStore store(path("a.db"));
  EXPECT_EQ(Sql(path("a.db")).text("PRAGMA journal_mode"), "wal");
}

TEST_F(RecordStoreTest, KeepsTheTimeOfPreparing) {
  Record prepared = success("prepared", {1e-3});
  prepared.timing->prepare = 2.5e-4;
  {
    RecordStore store(path("a.db"));
    prepare(store);
    store.add(prepared);
    store.add(success("plain", {1e-3}));
  }
  RecordStore store(path("a.db"));
  EXPECT_THAT(store.list(), ElementsAre(prepared, success("plain", {1e-3})));
  EXPECT_TRUE(store.check().clean());
  RecordStore copy(path("copy.db"));
  std::stringstream lines;
  EXPECT_THAT(store.export_jsonl(lines), IsEmpty());
  EXPECT_EQ(copy.import_jsonl(lines, "lines").added, 2u);
  EXPECT_EQ(copy.list(), store.list());
}

TEST_F(RecordStoreTest, KeepsWhatTheCostModelSaidBeforeItLearnt) {
  RecordStore store(path("a.db"));
  prepare(store);
  Record scored = success("scored", {1e-3});
  scored.round = 3;
  scored.score = -1.0 / 3.0;
  Record failed = failure("failed", FailureCause::Crash, "signal 11");
  failed.round = 3;
  failed.score = 0.25;
  Record unasked = success("unasked", {1e-3});
  unasked.round = 4;
  store.add(std::vector{scored, failed, unasked});
  EXPECT_THAT(store.list(), ElementsAre(scored, failed, unasked));
  EXPECT_TRUE(store.check().clean());
  Sql(path("a.db")).run("UPDATE measurement SET score = 0.5 WHERE id = 'failed'");
  EXPECT_THAT(store.check().faults, ElementsAre("record 'failed': its checksum does not match its content"));
}

TEST_F(RecordStoreTest, AScoreIsOfARoundAndARoundIsOfASearch) {
  const auto fault = [](const auto& change) {
    Record record = success("job", {1e-3});
    change(record);
    return record_fault(record);
  };
  EXPECT_EQ(fault([](Record& r) { r.round = 1; }), "");
  EXPECT_THAT(fault([](Record& r) { r.score = 1.0; }), HasSubstr("but no round number"));
  EXPECT_THAT(fault([](Record& r) { r.round = -1; }), HasSubstr("round"));
  EXPECT_THAT(fault([](Record& r) {
                r.round = 1;
                r.score = std::numeric_limits<double>::quiet_NaN();
              }),
              HasSubstr("not finite"));
  EXPECT_THAT(fault([](Record& r) {
                r.round = 1;
                r.kind = MeasurementKind::Bench;
              }),
              HasSubstr("is no search measurement"));
}

TEST_F(RecordStoreTest, KeepsRoofsInTheOrderOfTheirTimes) {
  RecordStore store(path("a.db"));
  prepare(store);
  const RecordedRoof later = roof("later", std::string(kCopyRoof), 4e10, 2'000);
  const RecordedRoof sooner = roof("sooner", operations_roof(kF32), 1.0 / 3.0, 1'000);
  store.add_roof(later);
  store.add_roof(sooner);
  EXPECT_THAT(store.roofs(), ElementsAre(sooner, later));
  TaskKey task;
  task.target = sooner.target;
  task.threads = sooner.threads;
  const uint64_t machine = store.environments().front().machine();
  EXPECT_EQ(store.highest_roof(task, machine, sooner.quantity), sooner);
  RecordedRoof higher = sooner;
  higher.id = "higher";
  higher.per_second *= 2.0;
  store.add_roof(higher);
  EXPECT_EQ(store.highest_roof(task, machine, sooner.quantity), higher);
  EXPECT_EQ(store.highest_roof(task, machine + 1, sooner.quantity), std::nullopt);
  ++task.threads;
  EXPECT_EQ(store.highest_roof(task, machine, sooner.quantity), std::nullopt);
  EXPECT_EQ(sooner.quantity, "operations f32");
  EXPECT_EQ(operations_roof(kU8, "vnni"), "operations u8 of vnni");
  EXPECT_THROW(store.add_roof(later), InternalError) << "its id is there already";
  RecordedRoof elsewhere = roof("elsewhere", "copied bytes", 1.0, 1);
  elsewhere.environment = 1;
  EXPECT_THROW(store.add_roof(elsewhere), InternalError);
  EXPECT_THROW(store.add_roof(roof("none", "copied bytes", 0.0, 1)), InternalError);
  EXPECT_TRUE(store.check().clean());
  Sql(path("a.db")).run("UPDATE roof SET per_second = 2 * per_second WHERE id = 'later'");
  EXPECT_THAT(store.check().faults, ElementsAre("roof 'later': its checksum does not match its content"));
  EXPECT_THAT(store.roofs(), ElementsAre(higher, sooner)) << "a damaged roof is left out";
}

TEST_F(RecordStoreTest, ThePeakOfAUnitIsOneOfItsTypeForItsExtensionsAlone) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
  const auto add = [&](const char* id, const std::string& target, const std::string& quantity, double rate) {
    RecordedRoof one = roof(id, quantity, rate, 1);
    one.target = target;
    store.add_roof(one);
  };
  add("plain", "llvm x with=none", "operations u8", 1e9);
  add("unit", "llvm x with=dot:1", "operations u8 of vnni", 4e9);
  const uint64_t machine = environment().machine();
  const auto highest = [&](const std::string& target) {
    TaskKey task;
    task.target = target;
    task.threads = roof("any", "operations u8", 1.0, 1).threads;
    return store.highest_roof(task, machine, "operations u8")->per_second;
  };
  EXPECT_EQ(highest("llvm x with=dot:1"), 4e9);
  EXPECT_EQ(highest("llvm x with=none"), 1e9) << "which may not use the unit";
  EXPECT_EQ(highest("llvm x with=other:2"), 1e9) << "the processor is the same";
}

TEST_F(RecordStoreTest, RefusesANewerSchemaAndLeavesItAlone) {
  {
    RecordStore store(path("a.db"));
  }
  const std::string newer = std::to_string(kRecordSchema + 1);
  const std::string raise = "UPDATE meta SET value = '" + newer + "' WHERE key = 'schema_version'";
  Sql(path("a.db")).run(raise.c_str());
  try {
    RecordStore store(path("a.db"));
    FAIL() << "a newer schema was opened";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("newer Tunesmith (schema " + newer));
    EXPECT_THAT(error.what(), HasSubstr("a.db"));
  }
  EXPECT_EQ(Sql(path("a.db")).text("SELECT value FROM meta"), newer);
}

TEST_F(RecordStoreTest, RefusesFilesThatAreNotRecordStores) {
  EXPECT_THROW(RecordStore(path("none.db"), RecordStore::Mode::Existing), UserError);
  EXPECT_FALSE(std::filesystem::exists(path("none.db")));

  write("text.db", std::string(5000, 'x'));
  EXPECT_THROW(RecordStore(path("text.db")), UserError);

  Sql(path("other.db")).run("CREATE TABLE photos (id INTEGER)");
  EXPECT_THROW(RecordStore(path("other.db")), UserError);
  EXPECT_EQ(Sql(path("other.db")).text("PRAGMA journal_mode"), "delete");

  std::filesystem::create_directories(path("folder.db"));
  EXPECT_THROW(RecordStore(path("folder.db")), EnvironmentError);
  write("file", "");
  EXPECT_THROW(RecordStore(path("file/a.db")), EnvironmentError);
}

// A process killed right after creating the file leaves it empty.
TEST_F(RecordStoreTest, AnEmptyFileBecomesAStore) {
  write("a.db", "");
  RecordStore store(path("a.db"));
  prepare(store);
  EXPECT_TRUE(store.add(success("job", {1e-3})));
}

TEST_F(RecordStoreTest, TextThatIsNotUtf8IsStoredAndExported) {
  RecordStore store(path("a.db"));
  prepare(store);
  store.add(failure("job", FailureCause::CompileError, "bad byte \xff here"));
  EXPECT_TRUE(store.check().clean());
  EXPECT_EQ(store.find("job")->failure->message, "bad byte \xff here");
}

TEST(Timing, TakesMinimumAndMedian) {
  EXPECT_EQ(make_timing({3.0, 1.0, 2.0}).min, 1.0);
  EXPECT_EQ(make_timing({3.0, 1.0, 2.0}).median, 2.0);
  EXPECT_EQ(make_timing({4.0, 1.0}).median, 2.5);
  EXPECT_EQ(make_timing({4.0, 1.0}).samples, (std::vector<double>{4.0, 1.0}));
  EXPECT_THROW(make_timing({}), InternalError);
  EXPECT_THROW(make_timing({0.0}), InternalError);
}

}  // namespace
}  // namespace tunesmith
