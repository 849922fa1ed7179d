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
  store.add_environment(environment());
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
  store.add_environment(environment());
  Record record = success("job", {std::numeric_limits<double>::denorm_min(), 0.1, 1e300});
  record.seed = std::numeric_limits<uint64_t>::max();
  record.candidate = uint64_t{1} << 63;
  record.program_hash = 1;
  record.rules_hash = std::numeric_limits<uint64_t>::max();
  record.verified_error = 0.1 + 0.2;
  store.add(record);
  EXPECT_EQ(store.find("job"), record);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(RecordStoreTest, SurvivesClosingAndOpening) {
  const Record record = success("job", {1e-3});
  {
    RecordStore store(path("deep/folder/a.db"));
    store.add_environment(environment());
    store.add(record);
  }
  RecordStore store(path("deep/folder/a.db"), RecordStore::Mode::Existing);
  EXPECT_EQ(store.find("job"), record);
  EXPECT_EQ(store.environment(record.environment), environment());
}

TEST_F(RecordStoreTest, AnIdIsAddedOnceAndTheFirstStays) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
  store.add_environment(environment());
  EXPECT_TRUE(store.add(success("job", {1e-3})));
  EXPECT_FALSE(store.add(success("job", {1e-3})));
  EXPECT_FALSE(store.add(success("job", {9e-3})));
  EXPECT_EQ(store.count(), 1u);
  EXPECT_EQ(store.find("job")->timing->min, 1e-3);
  EXPECT_EQ(store.environments().size(), 1u);
}

TEST_F(RecordStoreTest, AFailureHasNoTimeAndASuccessIsVerified) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
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
  EXPECT_EQ(store.count(), 0u);
}

TEST_F(RecordStoreTest, ABatchIsAddedWholeOrNotAtAll) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
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
  store.add_environment(environment());
  Record other = success("z", {1e-3});
  other.workload = "dense:n=64";
  other.workload_hash = 77;
  Record elsewhere = success("m", {1e-3});
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
}

TEST_F(RecordStoreTest, BestRanksProgramsByTheirLeastTime) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
  store.add(with_program(success("slow", {4e-3}), 1));
  store.add(with_program(success("disturbed", {1e-3, 3e-3, 3e-3}), 2));
  store.add(with_program(success("fast", {2e-3, 2e-3, 2e-3}), 3));
  store.add(with_program(failure("failed", FailureCause::WrongResult, ""), 4));
  store.add(with_program(success("tie", {2e-3}), 5));
  std::vector<std::string> order;
  for (const Record& record : store.best({}, 10)) order.push_back(record.id);
  EXPECT_THAT(order, testing::ElementsAre("disturbed", "fast", "tie", "slow"));
  EXPECT_EQ(store.best({}, 2).size(), 2u);
  EXPECT_TRUE(store.best({.target = "cuda"}, 2).empty());
}

// A lucky single run must not outlive a careful measurement of the same program.
TEST_F(RecordStoreTest, BestTakesTheMostCarefulMeasurementOfAProgram) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
  store.add(with_program(success("lucky", {1e-3}), 1));
  store.add(with_program(success("careful", {3e-3, 3e-3, 3e-3}), 1));
  store.add(with_program(success("again", {4e-3, 4e-3, 4e-3}), 1));
  store.add(with_program(success("other", {2e-3}), 2));
  const std::vector<Record> best = store.best({}, 10);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].id, "other");
  EXPECT_EQ(best[1].id, "again");
}

TEST_F(RecordStoreTest, TimesOfAnotherMachineStayApart) {
  RecordStore store(path("a.db"));
  Environment updated = environment();
  updated.plugins["llvm"] = "9.9.9";
  Environment elsewhere = environment();
  elsewhere.cpu_model = "Another";
  for (const Environment& e : {environment(), updated, elsewhere}) store.add_environment(e);
  store.add(success("here", {3e-3}));
  Record record = success("updated", {2e-3});
  record.environment = updated.hash();
  store.add(record);
  record = success("elsewhere", {1e-3});
  record.environment = elsewhere.hash();
  store.add(record);
  EXPECT_EQ(store.best({}, 1).at(0).id, "elsewhere");
  EXPECT_EQ(store.best({.machine = environment().machine()}, 1).at(0).id, "updated");
  EXPECT_EQ(store.best({.environment = environment().hash()}, 1).at(0).id, "here");
}

TEST_F(RecordStoreTest, ManyThreadsAddAtOnce) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
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
  a.add_environment(environment());
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
    store.add_environment(environment());
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

TEST_F(RecordStoreTest, BringsAStoreOfTheFirstSchemaUpToDate) {
  {
    RecordStore store(path("a.db"));
    store.add_environment(environment());
    store.add(success("old", {1e-3}));
  }
  Sql(path("a.db"))
      .run(
          "ALTER TABLE record DROP COLUMN seconds_prepare; "
          "UPDATE meta SET value = '1' WHERE key = 'schema_version'");
  RecordStore store(path("a.db"), RecordStore::Mode::Existing);
  Record prepared = success("new", {1e-3});
  prepared.timing->prepare = 1e-5;
  EXPECT_TRUE(store.add(prepared));
  EXPECT_THAT(store.list(), ElementsAre(success("old", {1e-3}), prepared));
  EXPECT_TRUE(store.check().clean()) << "what was there has the checksum that it had";
  EXPECT_EQ(Sql(path("a.db")).text("SELECT value FROM meta"), "2");
}

TEST_F(RecordStoreTest, RefusesANewerSchemaAndLeavesItAlone) {
  {
    RecordStore store(path("a.db"));
  }
  Sql(path("a.db")).run("UPDATE meta SET value = '3' WHERE key = 'schema_version'");
  try {
    RecordStore store(path("a.db"));
    FAIL() << "a newer schema was opened";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("newer Tunesmith (schema 3"));
    EXPECT_THAT(error.what(), HasSubstr("a.db"));
  }
  EXPECT_EQ(Sql(path("a.db")).text("SELECT value FROM meta"), "3");
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
  store.add_environment(environment());
  EXPECT_TRUE(store.add(success("job", {1e-3})));
}

TEST_F(RecordStoreTest, TextThatIsNotUtf8IsStoredAndExported) {
  RecordStore store(path("a.db"));
  store.add_environment(environment());
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
