// Stores of older schemas. fixtures/schema2.sql is what Tunesmith wrote before it: three short runs with
// one thread and two of gmm and softmax, and one whose candidates took too long; only the name of the machine
// was made up. fixtures/lines1.jsonl is its export. fixtures/schema3.sql is what it wrote before schema 4:
// runs of gmm with two threads, of softmax with one, and of a gmm whose candidates took too long, with
// another machine's name; fixtures/lines2.jsonl is its export. fixtures/schema7.sql is what it wrote before
// schema 8: a run of gmm with two threads, and four roofs.
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
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::SizeIs;

constexpr const char* kFixtures = TUNESMITH_SOURCE_DIR "/tests/unit/records/fixtures/";

std::string text_of(const std::string& file) {
  std::ifstream in(kFixtures + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class MigrateTest : public StoreFixture {
 protected:
  void write_old_store(const std::string& file = "a.db", const std::string& fixture = "schema2.sql") const {
    Sql sql(path(file));
    sql.run(text_of(fixture).c_str());
    sql.run("PRAGMA journal_mode = WAL");
  }
};

TEST_F(MigrateTest, AStoreOfSchema2IsCopiedAsideAndCarriedOver) {
  write_old_store();
  const RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 2);
  EXPECT_EQ(store.migration()->records, 18u);
  EXPECT_THAT(store.migration()->left_out, IsEmpty());
  EXPECT_EQ(store.migration()->copy, path("a.db.schema2.bak"));
  const CheckReport check = store.check();
  EXPECT_TRUE(check.clean()) << check.faults.at(0);
  EXPECT_EQ(check.records, 18u);
  EXPECT_EQ(check.unattributed, 18u);
  EXPECT_EQ(check.environments, 2u);
  EXPECT_EQ(store.count({.cause = FailureCause::TimeOut}), 3u);
  EXPECT_THAT(store.list(), Each(Property(&Record::attributed, false)));
  // The copy is the whole old store, and sound.
  Sql copy(path("a.db.schema2.bak"));
  EXPECT_EQ(copy.text("SELECT value FROM meta"), "2");
  EXPECT_EQ(copy.text("SELECT count(*) FROM record"), "18");
  EXPECT_EQ(copy.text("PRAGMA integrity_check"), "ok");
}

TEST_F(MigrateTest, WhatTheOldRecordSaidIsKeptAndTheRestIsUnknown) {
  write_old_store();
  const RecordStore store(path("a.db"));
  const std::optional<Record> record = store.find("ad305967385d3bae");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->workload, "gmm:b=1,n=16,m=16,k=16,dtype=f32,constant_b=0");
  EXPECT_EQ(record->space, "cpu");
  EXPECT_THAT(record->trace, HasSubstr("get_block"));
  ASSERT_TRUE(record->timing);
  EXPECT_EQ(record->seconds, record->timing->min);
  EXPECT_TRUE(store.environment(record->environment));
  EXPECT_EQ(record->threads, 0);
  EXPECT_EQ(record->run, "");
  EXPECT_EQ(record->lowered_hash, std::nullopt);
  EXPECT_EQ(record->disturbed, std::nullopt);
  EXPECT_EQ(store.workload(record->workload_hash), std::nullopt) << "its definition is unknown";
  EXPECT_THAT(store.best({record->task(), store.environment(record->environment)->machine(), {}}, 5),
              IsEmpty());
}

TEST_F(MigrateTest, ItIsDoneOnceAndNeverOverACopy) {
  write_old_store();
  write("a.db.schema2.bak", "mine");
  {
    const RecordStore store(path("a.db"));
    ASSERT_TRUE(store.migration());
    EXPECT_EQ(store.migration()->copy, path("a.db.schema2.bak2"));
  }
  const RecordStore again(path("a.db"));
  EXPECT_FALSE(again.migration());
  EXPECT_EQ(again.count(), 18u);
  std::ifstream in(path("a.db.schema2.bak"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "mine");
  EXPECT_FALSE(std::filesystem::exists(path("a.db.schema2.bak3")));
}

TEST_F(MigrateTest, AStoreOfSchema1HadNoTimeOfPreparing) {
  write_old_store();
  Sql(path("a.db"))
      .run(
          "ALTER TABLE record DROP COLUMN seconds_prepare; "
          "UPDATE meta SET value = '1' WHERE key = 'schema_version'");
  const RecordStore store(path("a.db"), RecordStore::Mode::Existing);
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 1);
  EXPECT_EQ(store.count(), 18u);
  EXPECT_TRUE(store.check().clean());
  EXPECT_TRUE(std::filesystem::exists(path("a.db.schema1.bak")));
}

TEST_F(MigrateTest, DamagedRecordsStayInTheCopyAndAreNamed) {
  write_old_store();
  Sql(path("a.db")).run("UPDATE record SET seconds_median = 1.0 WHERE id = 'ad305967385d3bae'");
  const RecordStore store(path("a.db"));
  EXPECT_EQ(store.migration()->records, 17u);
  EXPECT_THAT(store.migration()->left_out,
              ElementsAre("record 'ad305967385d3bae': its checksum does not fit its content"));
  EXPECT_TRUE(store.check().clean());
  EXPECT_EQ(Sql(path("a.db.schema2.bak")).text("SELECT count(*) FROM record"), "18");
}

TEST_F(MigrateTest, NewRecordsStandBesideOldOnes) {
  write_old_store();
  RecordStore store(path("a.db"));
  prepare(store);
  EXPECT_TRUE(store.add(success("new", {1e-3})));
  EXPECT_EQ(store.count({.attributed = true}), 1u);
  EXPECT_EQ(store.count({.attributed = false}), 18u);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(MigrateTest, OldLinesAreImportedAsUnattributedRecords) {
  write_old_store();
  const RecordStore migrated(path("a.db"));
  RecordStore store(path("b.db"));
  std::stringstream lines(text_of("lines1.jsonl"));
  const ImportReport report = store.import_jsonl(lines, "lines1.jsonl");
  EXPECT_EQ(report.added, 18u);
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(store.list(), migrated.list()) << "the same by both ways";
  EXPECT_TRUE(store.check().clean());
  EXPECT_EQ(store.merge(path("a.db")).known, 18u);
}

TEST_F(MigrateTest, WhoOnlyReadsChangesNothing) {
  for (const char* fixture : {"schema2.sql", "schema3.sql"}) {
    const std::string file = std::string(fixture) + ".db";
    write_old_store(file, fixture);
    const auto bytes = [&] {
      std::ifstream in(path(file), std::ios::binary);
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
      RecordStore store(path(file), RecordStore::Mode::Read);
      ASSERT_TRUE(store.migration()) << fixture;
      EXPECT_EQ(store.migration()->copy, "");
      seen = store.list();
      EXPECT_TRUE(store.check().clean());
      EXPECT_THROW(store.add_environment(environment()), EnvironmentError);
      EXPECT_THROW(store.add_space({"new", 7, "rules"}), EnvironmentError);
    }
    EXPECT_EQ(bytes(), before) << fixture;
    EXPECT_EQ(files(), count) << fixture;
    EXPECT_EQ(RecordStore(path(file)).list(), seen) << "as who migrates it finds it";
  }
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

TEST_F(MigrateTest, AStoreOfSchema3KeepsAllThatItSaid) {
  write_old_store("a.db", "schema3.sql");
  RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 3);
  EXPECT_EQ(store.migration()->records, 24u);
  EXPECT_THAT(store.migration()->left_out, IsEmpty());
  EXPECT_EQ(store.migration()->copy, path("a.db.schema3.bak"));
  const CheckReport check = store.check();
  EXPECT_TRUE(check.clean()) << check.faults.at(0);
  EXPECT_EQ(check.records, 24u);
  EXPECT_EQ(check.unattributed, 0u);
  EXPECT_THAT(store.list(), Each(AllOf(Field(&Record::round, 0), Field(&Record::score, std::nullopt))));
  EXPECT_THAT(store.roofs(), IsEmpty());
  EXPECT_EQ(store.count({.kind = MeasurementKind::Ranking}), 9u);
  EXPECT_EQ(store.count({.cause = FailureCause::TimeOut}), 3u);
  Sql copy(path("a.db.schema3.bak"));
  EXPECT_EQ(copy.text("SELECT value FROM meta"), "3");
  EXPECT_EQ(copy.text("SELECT count(*) FROM record"), "24");

  prepare(store);
  Record scored = success("new", {1e-3});
  scored.round = 1;
  scored.score = 0.5;
  EXPECT_TRUE(store.add(scored));
  EXPECT_EQ(store.find("new"), scored);
  store.add_roof(roof("roof", "copied bytes", 1e10, 1));
  EXPECT_TRUE(store.check().clean());
  EXPECT_FALSE(RecordStore(path("a.db")).migration()) << "it is done once";
}

TEST_F(MigrateTest, AStoreOfSchema4KnewNoTwins) {
  {
    RecordStore store(path("a.db"));
    prepare(store);
    EXPECT_TRUE(store.add(success("old", {1e-3})));
  }
  Sql(path("a.db"))
      .run(
          "DROP VIEW record; ALTER TABLE measurement DROP COLUMN verified_on; "
          "ALTER TABLE measurement DROP COLUMN verifier; ALTER TABLE roof DROP COLUMN disturbed; "
          "CREATE VIEW record AS SELECT id FROM measurement; UPDATE meta SET value = '4' WHERE key = "
          "'schema_version'");
  RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 4);
  EXPECT_EQ(store.migration()->records, 1u);
  EXPECT_EQ(store.find("old"), success("old", {1e-3}));
  Record twin = success("new", {1e-3});
  twin.verified_on = "gmm:b=1,n=128,m=128,k=128";
  EXPECT_TRUE(store.add(twin));
  EXPECT_EQ(store.find("new"), twin);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(MigrateTest, AStoreOfSchema5DidNotSayWhichCheckItsProgramsPassed) {
  {
    RecordStore store(path("a.db"));
    prepare(store);
    EXPECT_TRUE(store.add(success("old", {1e-3})));
  }
  Sql(path("a.db"))
      .run(
          "DROP VIEW record; ALTER TABLE measurement DROP COLUMN verifier; "
          "ALTER TABLE roof DROP COLUMN disturbed; "
          "CREATE VIEW record AS SELECT id FROM measurement; UPDATE meta SET value = '5' WHERE key = "
          "'schema_version'");
  RecordStore store(path("a.db"));
  ASSERT_TRUE(store.migration());
  EXPECT_EQ(store.migration()->from_schema, 5);
  EXPECT_EQ(store.find("old"), success("old", {1e-3})) << "and so its verifier is not known";
  Record checked = success("new", {1e-3});
  checked.verifier = 7;
  EXPECT_TRUE(store.add(checked));
  EXPECT_EQ(store.find("new"), checked);
  EXPECT_TRUE(store.check().clean());
}

TEST_F(MigrateTest, AStoreOfSchema6DidNotSayWhetherARoofWasDisturbed) {
  {
    RecordStore store(path("a.db"));
    prepare(store);
    store.add_roof(roof("old", "copied bytes", 1e10, 1));
  }
  Sql(path("a.db"))
      .run(
          "ALTER TABLE roof DROP COLUMN disturbed; UPDATE meta SET value = '6' WHERE key = 'schema_version'");
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

// As the last Tunesmith before schema 8 wrote a target, how this one does, and one of other sources.
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
  Sql(path("a.db")).run("UPDATE meta SET value = '7' WHERE key = 'schema_version'");
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
  write_old_store("a.db", "schema7.sql");
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
      .run(
          "UPDATE meta SET value = '7' WHERE key = 'schema_version'; "
          "UPDATE measurement SET time_ms = 1 WHERE id = 'damaged'");
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
  write_old_store("two.db", "schema2.sql");
  write_old_store("three.db", "schema3.sql");
  for (const char* file : {"new.db", "two.db", "three.db"}) RecordStore(path(file));
  for (const char* file : {"two.db", "three.db"}) {
    EXPECT_EQ(Sql(path(file)).text(kColumns), Sql(path("new.db")).text(kColumns)) << file;
    EXPECT_EQ(Sql(path(file)).text(kView), Sql(path("new.db")).text(kView)) << file;
  }
  EXPECT_THAT(Sql(path("new.db")).text(kColumns), HasSubstr("measurement.score REAL"));
}

TEST_F(MigrateTest, LinesOfVersion2GiveWhatTheStoreOfSchema3Gives) {
  write_old_store("a.db", "schema3.sql");
  const RecordStore migrated(path("a.db"));
  RecordStore store(path("b.db"));
  std::stringstream lines(text_of("lines2.jsonl"));
  const ImportReport report = store.import_jsonl(lines, "lines2.jsonl");
  EXPECT_EQ(report.added, 24u);
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(store.list(), migrated.list());
  EXPECT_EQ(store.merge(path("a.db")).known, 24u);
}

TEST_F(MigrateTest, AnOldStoreCanBeMerged) {
  write_old_store("old.db");
  RecordStore store(path("new.db"));
  const ImportReport report = store.merge(path("old.db"));
  EXPECT_EQ(report.added, 18u);
  ASSERT_TRUE(report.migration);
  EXPECT_EQ(report.migration->copy, "");
  EXPECT_EQ(Sql(path("old.db")).text("SELECT value FROM meta"), "2") << "it is only read";
  EXPECT_TRUE(store.check().clean());
}

}  // namespace
}  // namespace tunesmith
