// Stores of older schemas. fixtures/schema7.sql is what Tunesmith wrote before schema 8: a run of gmm with
// two threads, and four roofs. In schema 6, of release 0.2.0, roofs lacked a column.
#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>

#include "unit/records/store_fixture.h"

namespace tunesmith {
namespace {
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

/// What schema 9 brought is not there.
const std::string kWithoutTimesAt =
    "DROP VIEW record; ALTER TABLE measurement DROP COLUMN times_at; "
    "CREATE VIEW record AS SELECT * FROM measurement; ";

class MigrateTest : public StoreFixture {
 protected:
  void write_old_store(const std::string& file = "a.db") const {
    std::ifstream in(TUNESMITH_SOURCE_DIR "/tests/unit/records/fixtures/schema7.sql");
    Sql sql(path(file));
    sql.run(std::string(std::istreambuf_iterator<char>(in), {}).c_str());
    sql.run("PRAGMA journal_mode = WAL");
  }
};

TEST_F(MigrateTest, ItIsDoneOnceAndNeverOverACopy) {
  write_old_store();
  write("a.db.schema7.bak", "mine");
  {
    const RecordStore store(path("a.db"));
    ASSERT_TRUE(store.migration());
    EXPECT_EQ(store.migration()->copy, path("a.db.schema7.bak2"));
  }
  const RecordStore again(path("a.db"));
  EXPECT_FALSE(again.migration());
  EXPECT_EQ(again.count(), 12u);
  std::ifstream in(path("a.db.schema7.bak"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
  EXPECT_FALSE(std::filesystem::exists(path("a.db.schema7.bak3")));
}

TEST_F(MigrateTest, WhoOnlyReadsChangesNothing) {
  write_old_store();
  const auto bytes = [&] {
    std::ifstream in(path("a.db"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(path("")),
                         std::filesystem::directory_iterator());
  };
  const auto count = files();
  std::vector<Record> seen;
  {
    RecordStore store(path("a.db"), RecordStore::Mode::Read);
    ASSERT_TRUE(store.migration());
    EXPECT_EQ(store.migration()->copy, "");
    seen = store.list();
    EXPECT_TRUE(store.check().clean());
    EXPECT_THROW(store.add_environment(environment()), EnvironmentError);
    EXPECT_THROW(store.add_space({"new", 7, "rules"}), EnvironmentError);
  }
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(files(), count);
  EXPECT_EQ(RecordStore(path("a.db")).list(), seen) << "as who migrates it finds it";
}

TEST_F(MigrateTest, AStoreThatIsUpToDateIsReadInItsPlace) {
  {
    RecordStore(path("a.db")).add_space({"known", 7, "rules"});
  }
  RecordStore writer(path("a.db"));
  RecordStore reader(path("a.db"), RecordStore::Mode::Read);
  EXPECT_FALSE(reader.migration());
  writer.add_space({"later", 8, "rules"});
  EXPECT_TRUE(reader.space("later", 8)) << "it is no copy";
  EXPECT_THROW(reader.add_space({"mine", 9, "rules"}), EnvironmentError);
  write("empty.db", "");
  EXPECT_EQ(RecordStore(path("empty.db"), RecordStore::Mode::Read).count(), 0u);
  EXPECT_EQ(std::filesystem::file_size(path("empty.db")), 0u);
  write("text.db", "no database");
  EXPECT_THROW(RecordStore(path("text.db"), RecordStore::Mode::Read), UserError);
  EXPECT_THROW(RecordStore(path("none.db"), RecordStore::Mode::Read), UserError);
}

TEST_F(MigrateTest, AStoreOfSchema6DidNotSayWhetherARoofWasDisturbed) {
  {
    RecordStore store(path("a.db"));
    prepare(store);
    store.add_roof(roof("old", "copied bytes", 1e10, 1));
  }
  Sql(path("a.db"))
      .run((kWithoutTimesAt + "ALTER TABLE roof DROP COLUMN disturbed; "
                              "UPDATE meta SET value = '6' WHERE key = 'schema_version'")
               .c_str());
  RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 6);
  EXPECT_THAT(store.roofs(), ElementsAre(roof("old", "copied bytes", 1e10, 1)));
  RecordedRoof disturbed = roof("new", "copied bytes", 9e9, 2);
  disturbed.disturbed = true;
  store.add_roof(disturbed);
  EXPECT_EQ(store.roofs().back(), disturbed);
  EXPECT_TRUE(store.check().clean());
}

// A target as the last Tunesmith before schema 8 wrote it, as this one does, and one from other sources.
constexpr const char* kHashes =
    "llvm 19 cpu=a generator=e65e9aa27b6103d0,llvm-19.1.7 lowering=3c00fae1729327e0 "
    "with=vnni:2dd3109da77b0516";
constexpr const char* kVersions =
    "llvm 19 cpu=a generator=1,llvm-19.1.7 lowering=1 with=vnni:2dd3109da77b0516";
constexpr const char* kOtherHashes =
    "llvm 19 cpu=a generator=5f0849d7300c98d0,llvm-19.1.7 lowering=d93431a910253186 with=none";

Record with_target(Record record, const std::string& target) {
  record.target = target;
  return record;
}

TEST_F(MigrateTest, AStoreOfSchema7HadHashesOfSourcesInItsTargets) {
  RecordedRoof measured = roof("roof", "operations f32 of vnni", 1e10, 1);
  measured.target = kHashes;
  const std::vector<Record> old{with_target(success("one", {1e-3}), kHashes),
                                with_target(with_program(success("two", {2e-3}), 2), kHashes),
                                with_target(failure("three", FailureCause::WrongResult, "far off"), kHashes),
                                with_target(success("other", {1e-4}), kOtherHashes)};
  {
    RecordStore store(path("a.db"));
    prepare(store);
    EXPECT_EQ(store.add(old), old.size());
    store.add_roof(measured);
  }
  Sql(path("a.db"))
      .run((kWithoutTimesAt + "UPDATE meta SET value = '7' WHERE key = 'schema_version'").c_str());
  const RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 7);
  EXPECT_EQ(store.migration()->records, old.size());
  EXPECT_THAT(store.list(), ElementsAre(with_target(old[0], kVersions), with_target(old[1], kVersions),
                                        with_target(old[2], kVersions), old[3]));
  measured.target = kVersions;
  EXPECT_THAT(store.roofs(), ElementsAre(measured));
  EXPECT_EQ(store.tasks().size(), 2U);
  const CheckReport check = store.check();
  EXPECT_TRUE(check.clean()) << check.faults.at(0);
  const std::vector<Record> best =
      store.best({with_target(old[0], kVersions).task(), environment().machine(), {}}, 5);
  ASSERT_EQ(best.size(), 1U) << "the first program was found to be wrong";
  EXPECT_EQ(best.front().id, "two");
}

TEST_F(MigrateTest, WhatTheLastTunesmithOfSchema7WroteIsOfTheVersionsOfToday) {
  write_old_store();
  const RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->copy, path("a.db.schema7.bak"));
  const CheckReport check = store.check();
  EXPECT_TRUE(check.clean()) << check.faults.at(0);
  const std::vector<TaskKey> tasks = store.tasks();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_THAT(tasks.front().target,
              HasSubstr(" generator=1,llvm-19.1.7 lowering=1 with=vnni:2dd3109da77b0516,"));
  EXPECT_FALSE(store.best({tasks.front(), store.environments().front().machine(), {}}, 1).empty());
  EXPECT_THAT(store.roofs(), SizeIs(4));
  EXPECT_THAT(store.roofs(), Each(Field(&RecordedRoof::target, tasks.front().target)));
  EXPECT_EQ(
      Sql(path("a.db.schema7.bak")).text("SELECT count(*) FROM target WHERE text LIKE '%3c00fae1729327e0%'"),
      "1");
}

TEST_F(MigrateTest, WhatANewerTunesmithMeasuredJoinsWhatIsRenamed) {
  Record newer = with_target(success("newer", {9e-4}), kVersions);
  newer.trace = "b0 = get_block(\"C\")\n";
  {
    RecordStore store(path("a.db"));
    prepare(store);
    EXPECT_TRUE(store.add(with_target(success("one", {1e-3}), kHashes)));
    EXPECT_TRUE(store.add(with_target(with_program(success("two", {2e-3}), 2), kHashes)));
    EXPECT_TRUE(store.add(newer));
    EXPECT_TRUE(store.add(with_target(success("damaged", {3e-3}), kHashes)));
  }
  Sql(path("a.db"))
      .run((kWithoutTimesAt + "UPDATE meta SET value = '7' WHERE key = 'schema_version'; "
                              "UPDATE measurement SET time_ms = 1 WHERE id = 'damaged'")
               .c_str());
  const RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.tasks().size(), 1U);
  EXPECT_EQ(store.find("one")->target, kVersions);
  EXPECT_EQ(store.find("one")->trace, newer.trace) << "of two traces of a program one is kept";
  EXPECT_EQ(store.find("two"), with_target(with_program(success("two", {2e-3}), 2), kVersions));
  EXPECT_EQ(store.find("newer"), newer);
  EXPECT_THAT(store.check().faults, ElementsAre(HasSubstr("damaged")));
}

TEST_F(MigrateTest, LinesWithHashesOfSourcesAreImportedWithVersions) {
  std::stringstream lines;
  {
    RecordStore store(path("a.db"));
    prepare(store);
    EXPECT_TRUE(store.add(with_target(success("one", {1e-3}), kHashes)));
    EXPECT_TRUE(store.add(with_target(with_program(success("other", {1e-3}), 2), kOtherHashes)));
    RecordedRoof measured = roof("roof", "copied bytes", 1e10, 1);
    measured.target = kHashes;
    store.add_roof(measured);
    EXPECT_THAT(store.export_jsonl(lines), IsEmpty());
  }
  EXPECT_THAT(lines.str(), HasSubstr(kHashes));
  RecordStore store(path("b.db"));
  const ImportReport report = store.import_jsonl(lines, "old.jsonl");
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(store.find("one"), with_target(success("one", {1e-3}), kVersions));
  EXPECT_EQ(store.find("other")->target, kOtherHashes);
  EXPECT_EQ(store.roofs().front().target, kVersions);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(MigrateTest, AMigratedStoreHasTheTablesOfANewOne) {
  constexpr const char* kColumns =
      "SELECT group_concat(t.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk, "
      "', ') "
      "FROM (SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name) t, "
      "pragma_table_info(t.name) c";
  constexpr const char* kView = "SELECT sql FROM sqlite_schema WHERE name = 'record'";
  write_old_store("six.db");
  Sql(path("six.db"))
      .run(
          "ALTER TABLE roof DROP COLUMN disturbed; UPDATE meta SET value = '6' WHERE key = 'schema_version'");
  write_old_store("seven.db");
  for (const char* file : {"new.db", "six.db", "seven.db"}) RecordStore(path(file));
  for (const char* file : {"six.db", "seven.db"}) {
    EXPECT_EQ(Sql(path(file)).text(kColumns), Sql(path("new.db")).text(kColumns)) << file;
    EXPECT_EQ(Sql(path(file)).text(kView), Sql(path("new.db")).text(kView)) << file;
  }
  EXPECT_THAT(Sql(path("new.db")).text(kColumns), HasSubstr("measurement.score REAL"));
}

TEST_F(MigrateTest, RecordsThatNameNoProgramAreLeftOut) {
  write_old_store();
  Sql(path("a.db"))
      .run(
          "INSERT INTO run SELECT 'unattributed-0', space, environment, seed, NULL, NULL, NULL, NULL, NULL, "
          "NULL, NULL, NULL, NULL, checksum FROM run LIMIT 1; "
          "INSERT INTO task SELECT 77, workload_hash, target, 0, '' FROM task LIMIT 1; "
          "INSERT INTO program SELECT 77, 77, workload, space, trace, trace_version, NULL FROM program LIMIT "
          "1; "
          "UPDATE measurement SET program = 77, run = 'unattributed-0' WHERE seq = 1");
  const RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->left_out, 1u);
  EXPECT_EQ(store.migration()->records, 11u);
  EXPECT_EQ(store.count(), 11u);
  EXPECT_EQ(store.tasks().size(), 1u);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(MigrateTest, AStoreFromBeforeTheFirstReleaseIsRefusedAndLeft) {
  write_old_store();
  Sql(path("a.db")).run("UPDATE meta SET value = '5' WHERE key = 'schema_version'");
  for (const auto mode : {RecordStore::Mode::Create, RecordStore::Mode::Read}) {
    EXPECT_THAT([&] { const RecordStore store(path("a.db"), mode); },
                ThrowsMessage<UserError>(HasSubstr("has schema 5, which no release used")));
  }
  EXPECT_EQ(Sql(path("a.db")).text("SELECT value FROM meta"), "5");
}

TEST_F(MigrateTest, AnOldStoreCanBeMerged) {
  write_old_store("old.db");
  RecordStore store(path("new.db"));
  const ImportReport report = store.merge(path("old.db"));
  EXPECT_EQ(report.added, 12u);
  ASSERT_TRUE(report.migration);
  EXPECT_EQ(report.migration->copy, "");
  EXPECT_EQ(Sql(path("old.db")).text("SELECT value FROM meta"), "7") << "it is only read";
  EXPECT_TRUE(store.check().clean());
}

}  // namespace
}  // namespace tunesmith
